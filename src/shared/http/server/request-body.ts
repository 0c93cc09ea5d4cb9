import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';

const MAX_BODY_BYTES = 65_536;

/** A media type, with or without parameters (RFC 9110 section 8.3.1). */
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;
/** A media type that no operation accepts. */
const UNKNOWN_MEDIA_TYPE = 'application/octet-stream';

/** A body that has not been read yet. `RequestBodyGuard` reads it, after the other global guards. */
export class UnreadBody {
  constructor(
    private readonly headers: IncomingHttpHeaders,
    private readonly content: Readable,
  ) {}

  /** @throws PetStoreError `unsupported_media_type`, `body_too_large` or `malformed_request` */
  async read(mediaTypes: readonly string[]): Promise<Buffer> {
    const { 'content-type': contentType, 'content-length': length } = this.headers;
    if (!isOneOf(mediaTypes, contentType ?? '')) {
      throw new PetStoreError('unsupported_media_type', `The body must be ${mediaTypes.join(' or ')} in UTF-8.`);
    }
    if ((this.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      throw new PetStoreError('unsupported_media_type', 'The body must not be compressed.');
    }
    if (Number(length) > MAX_BODY_BYTES) {
      throw createTooLargeError();
    }
    return readBytes(this.content);
  }
}

/** A body that an interceptor of the operation may read, and replace by its fields. No other operation has one. */
export const MULTIPART_BODY = Symbol('multipart body');

const JSON_PARSER =
  'Another parser of application/json would run before the guards, and round large integers: remove it, such as ' +
  'useBodyParser(). For larger bodies, change MAX_BODY_BYTES in src/shared/http/server/request-body.ts.';

/**
 * Gives the global guards an `UnreadBody`, whatever the media type. A parser that a plugin or a module adds for a media type of its own
 * takes precedence.
 */
export function deferBodyParsing(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (request, content, done) => {
    done(null, new UnreadBody(request.headers, content));
  });
  fastify.addHook('onReady', (done) => {
    done(fastify.hasContentTypeParser('application/json') ? new Error(JSON_PARSER) : undefined);
  });
  // Fastify itself would reject these requests, before the guards.
  fastify.addHook('onRequest', (request, _reply, done) => {
    const contentType = request.headers['content-type'];
    if (contentType === undefined ? request.method === 'QUERY' : !MEDIA_TYPE.test(contentType)) {
      request.headers = { 'content-type': UNKNOWN_MEDIA_TYPE };
    }
    done();
  });
}

function isOneOf(mediaTypes: readonly string[], contentType: string): boolean {
  const [mediaType = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charsets = parameters.filter((parameter) => /^charset\s*(=|$)/.test(parameter));
  return mediaTypes.includes(mediaType) && charsets.every((charset) => /^charset=("?)utf-8\1$/.test(charset));
}

function createTooLargeError(): PetStoreError {
  return new PetStoreError('body_too_large', `The body must be at most ${MAX_BODY_BYTES} bytes.`);
}

function readBytes(content: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const rejectIncomplete = () => {
      if (!content.readableEnded) {
        reject(new PetStoreError('malformed_request', 'The body is incomplete.'));
      }
    };
    content
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= MAX_BODY_BYTES) {
          chunks.push(chunk);
        } else {
          // The rest is discarded, so that the connection can be used for the next request.
          chunks.length = 0;
          content.removeAllListeners('data').resume();
          reject(createTooLargeError());
        }
      })
      .on('end', () => {
        resolve(Buffer.concat(chunks));
      })
      .on('close', rejectIncomplete)
      .on('error', rejectIncomplete);
    if (content.destroyed) {
      rejectIncomplete();
    }
  });
}
