import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';
import type { ErrorDto } from '../errors/error.dto';
import { getClientIp } from '../access/client-ip';
import { UNCACHED_HEADERS } from '../access/security-headers';
import { completeRequests, endConnection, setReply } from './request-queue';
import { detectStalls } from './stalls';
import { createMethodNotAllowedError, type RouteTable } from '../routing/route-table';
import { findApiVersion, MAX_URL_LENGTH, toOriginForm, UNSUPPORTED_CODING } from '../access/url-check';

/** The error that Node's HTTP parser reports when it gives up on a request. */
type ParserError = Error & {
  readonly code?: string;
  /** The last bytes that arrived, and how many of them were parsed. */
  readonly rawPacket?: unknown;
  readonly bytesParsed?: number;
};

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';
/** Error codes of connections whose client has disconnected, whether or not it sent anything. */
const CLIENT_DISCONNECTED = new Set<string | undefined>(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

const REQUEST_LINE = /^[A-Z-]+ (\S*)/;
const END_OF_HEADERS = '\r\n\r\n';

const logger = new Logger('ProtocolErrors');

interface ProtocolErrorOptions {
  readonly toDto: (error: PetStoreError) => ErrorDto;
  /** The headers of every response with this error. */
  readonly getErrorHeaders: (error: ErrorDto) => Readonly<Record<string, string>>;
  /** The rate limit headers of a response under a version of the API to this IP address. */
  readonly getRateLimitHeaders: (ip: string) => Readonly<Record<string, string>>;
  /** @param socket the connection of a request in progress whose rest was rejected */
  readonly onResponse: (requestId: string, status: number, socket?: Socket) => void;
}

/**
 * Responds to input that never becomes a request (not HTTP, too slow, or CONNECT), and ends the connection. If it is the rest of a request in
 * progress, the response has the header fields that this request has got so far, such as those of its rate limit.
 */
export function respondToProtocolErrors(
  fastify: FastifyInstance,
  routes: RouteTable,
  options: ProtocolErrorOptions,
): void {
  const end = (
    socket: Socket,
    ...args: [ParserError | undefined, PetStoreError, Readonly<Record<string, string>>?]
  ) => {
    endWithError(fastify, socket, options, ...args).catch((error: unknown) => {
      // An error for one connection must not end the process.
      logger.error(error);
      socket.destroy();
    });
  };
  fastify.addHook('onRequest', (_request, reply, done) => {
    setReply(reply);
    done();
  });
  const hasJustStalled = detectStalls(fastify.server);
  fastify.server.on('clientError', (parserError: ParserError, socket: Socket) => {
    const error =
      parserError.code === REQUEST_TIMEOUT && hasJustStalled()
        ? new PetStoreError('service_unavailable')
        : createProtocolError(parserError);
    end(socket, parserError, error);
  });
  fastify.server.on('connect', ({ method = '', socket }) => {
    const allowed = routes.getMethods();
    end(socket, undefined, createMethodNotAllowedError(method, allowed), { allow: allowed.join(', ') });
  });
}

/**
 * Responds after all earlier requests on the connection.
 * @param parserError undefined for CONNECT, which has no path
 */
async function endWithError(
  fastify: FastifyInstance,
  socket: Socket,
  { toDto, getErrorHeaders, getRateLimitHeaders, onResponse }: ProtocolErrorOptions,
  parserError: ParserError | undefined,
  error: PetStoreError,
  additionalHeaders: Readonly<Record<string, string>> = {},
): Promise<void> {
  const completed = await completeRequests(socket);
  if (completed === undefined) {
    return;
  }
  const { incomplete } = completed;
  if (incomplete?.response.headersSent !== true) {
    // A request that had to wait behind others is not late by its client's fault.
    const hadToWait = parserError?.code === REQUEST_TIMEOUT && incomplete !== undefined && !incomplete.isStarted;
    const reply = incomplete?.reply;
    const id = reply?.request.id ?? randomUUID();
    const body = toDto(hadToWait ? new PetStoreError('service_unavailable') : error);
    if (!CLIENT_DISCONNECTED.has(parserError?.code)) {
      onResponse(id, body.status, incomplete?.isStarted ? socket : undefined);
    }
    const hasBody =
      incomplete === undefined
        ? parserError === undefined || !isHead(parserError)
        : incomplete.request.method !== 'HEAD';
    writeError(
      socket,
      body,
      {
        ...(parserError !== undefined &&
          mayHaveApiVersion(fastify, parserError) &&
          getRateLimitHeaders(reply === undefined ? (socket.remoteAddress ?? '') : getClientIp(reply.request))),
        ...reply?.getHeaders(),
        'x-request-id': id,
        ...getErrorHeaders(body),
        ...additionalHeaders,
      },
      hasBody,
    );
  }
  // Unread bytes would reset the connection.
  socket.resume();
  endConnection(socket);
}

/** The error for bytes that never became a request. */
export function createProtocolError(parserError: ParserError): PetStoreError {
  switch (parserError.code) {
    case 'HPE_HEADER_OVERFLOW':
      // In a later packet of a request, the first line is the rest of a header.
      return REQUEST_LINE.test(getRequestLine(parserError)) && getRequestLine(parserError).length > MAX_URL_LENGTH
        ? new PetStoreError('uri_too_long', 'The URL is too long.')
        : new PetStoreError('headers_too_large');
    case REQUEST_TIMEOUT:
      return new PetStoreError('request_timeout');
    case 'HPE_INVALID_TRANSFER_ENCODING':
      // The parser has the same code for a request with both fields (RFC 9112 section 6.3).
      return parserError.message.includes('Content-Length')
        ? new PetStoreError('malformed_request')
        : new PetStoreError('not_implemented', UNSUPPORTED_CODING);
    default:
      return new PetStoreError('malformed_request');
  }
}

/** Whether the bytes are a HEAD request, whose response has no body. */
function isHead(parserError: ParserError): boolean {
  return getRequestLine(parserError).startsWith('HEAD ');
}

/**
 * Whether the bytes request a path under a version of the API; true if that cannot be determined, because they may start in the middle of
 * a request.
 */
function mayHaveApiVersion(fastify: FastifyInstance, parserError: ParserError): boolean {
  const [, target] = REQUEST_LINE.exec(getRequestLine(parserError)) ?? [];
  return target === undefined || findApiVersion(toOriginForm(target), fastify) !== undefined;
}

/** The first line of the request that failed; earlier requests may have arrived with it. */
function getRequestLine({ rawPacket, bytesParsed = 0 }: ParserError): string {
  if (!Buffer.isBuffer(rawPacket)) {
    return '';
  }
  const end = rawPacket.subarray(0, bytesParsed).lastIndexOf(END_OF_HEADERS);
  const request = end === -1 ? rawPacket : rawPacket.subarray(end + END_OF_HEADERS.length);
  return request.toString('latin1').split('\r\n', 1)[0] ?? '';
}

/** Writes an Error to a connection, without the HTTP layer. */
function writeError(
  socket: Socket,
  error: ErrorDto,
  headers: Readonly<Record<string, unknown>>,
  hasBody: boolean,
): void {
  const body = JSON.stringify(error);
  const fields = {
    ...headers,
    ...UNCACHED_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${String(value)}`);
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
  socket.write(hasBody ? head + body : head);
}
