import { type IncomingMessage, METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';
import { JsonDepthError, MAX_JSON_DEPTH, parseJson } from '../../json/json';

export const MAX_BODY_BYTES = 65_536;

/** The JSON body of a request. It is read when it is first needed, not by the HTTP layer. */
export class RequestBody {
  private content: Promise<string> | undefined;

  constructor(private readonly request: IncomingMessage) {}

  /** @throws PetStoreError `unsupported_media_type`, `body_too_large`, `invalid_json` or `malformed_request` */
  text(): Promise<string> {
    return (this.content ??= readText(this.request));
  }

  /** The body as an object. @throws PetStoreError as `text` does */
  async json(): Promise<object> {
    return parseObject(await this.text());
  }
}

/** Lets requests of every method reach the guards with an unread body: a `RequestBody`. */
export function deferBodyParsing(fastify: FastifyInstance): void {
  METHODS.forEach((method) => {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  });
  fastify.addHook('onRequest', (request, _reply, done) => {
    request.body = new RequestBody(request.raw);
    done();
  });
}

async function readText(request: IncomingMessage): Promise<string> {
  const {
    'content-type': contentType,
    'content-length': length,
    'transfer-encoding': transferEncoding,
  } = request.headers;
  const isEmpty = (length === undefined || length === '0') && transferEncoding === undefined;
  if (contentType === undefined ? !isEmpty : !isJson(contentType)) {
    throw new PetStoreError('unsupported_media_type');
  }
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new PetStoreError('unsupported_media_type', 'The body must not be compressed.');
  }
  const bytes = await readBytes(request);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PetStoreError('invalid_json', 'The body is not valid UTF-8.');
  }
}

function isJson(contentType: string): boolean {
  const [mediaType = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  return mediaType === 'application/json' && (charset === undefined || /^("?)utf-8\1$/.test(charset));
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const createTooLargeError = () =>
    new PetStoreError('body_too_large', `The body must be at most ${MAX_BODY_BYTES} bytes.`);
  if (Number(request.headers['content-length']) > MAX_BODY_BYTES) {
    throw createTooLargeError();
  }
  return new Promise((resolve, reject) => {
    const rejectIncomplete = () => {
      // Every request closes, even a complete one; capturing a stack for each would cost 5% of a creation.
      if (!request.readableEnded) {
        reject(new PetStoreError('malformed_request', 'The body is incomplete.'));
      }
    };
    const chunks: Buffer[] = [];
    let size = 0;
    request
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= MAX_BODY_BYTES) {
          chunks.push(chunk);
        } else {
          // The rest stays unread; destroying the request would also destroy the connection, and with it the response.
          request.pause();
          reject(createTooLargeError());
        }
      })
      .on('end', () => {
        resolve(Buffer.concat(chunks));
      })
      .on('close', rejectIncomplete)
      .on('error', rejectIncomplete);
    if (request.destroyed) {
      rejectIncomplete();
    }
  });
}

function parseObject(text: string): object {
  if (text.trim() === '') {
    throw new PetStoreError('invalid_json', 'The body is empty. Send a JSON object.');
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new PetStoreError(
      'invalid_json',
      error instanceof JsonDepthError
        ? `The body must not nest arrays and objects more than ${MAX_JSON_DEPTH} levels deep.`
        : undefined,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PetStoreError('invalid_json', 'The body must be a JSON object.');
  }
  return value;
}
