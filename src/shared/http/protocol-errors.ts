import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { PetStoreError } from '../domain/pet-store-error';
import type { ErrorDto } from './error.dto';
import { UNCACHED_HEADERS } from './protective-headers';
import { isUnderV1, MAX_URL_LENGTH, originForm } from './url-check';

/** What Node's HTTP parser reports with a request that it gives up on. */
export type ProtocolFailure = Error & { readonly code?: string; readonly rawPacket?: unknown };

/** What is wrong with bytes that never became a request. */
export function protocolError({ code, rawPacket }: ProtocolFailure): PetStoreError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return firstLine(rawPacket).length > MAX_URL_LENGTH
        ? new PetStoreError('uri_too_long', 'The URL is too long.')
        : new PetStoreError('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new PetStoreError('request_timeout');
    default:
      return new PetStoreError('malformed_request');
  }
}

/** Whether the bytes are a HEAD request, whose response has no body. */
export function isHead({ rawPacket }: ProtocolFailure): boolean {
  return firstLine(rawPacket).startsWith('HEAD ');
}

/** Whether the bytes ask for something under `/v1`, as far as can be told: they may begin in the middle of a request. */
export function asksForV1({ rawPacket }: ProtocolFailure): boolean {
  const [, target] = /^[A-Z-]+ (\S*)/.exec(firstLine(rawPacket)) ?? [];
  return target === undefined || isUnderV1(originForm(target));
}

function firstLine(bytes: unknown): string {
  return Buffer.isBuffer(bytes) ? (bytes.toString('latin1').split('\r\n', 1)[0] ?? '') : '';
}

/** Writes an Error to a connection that ends with it, without the HTTP layer's help. */
export function writeError(
  socket: Socket,
  error: ErrorDto,
  headers: Readonly<Record<string, string>>,
  withBody: boolean,
): void {
  const body = JSON.stringify(error);
  const fields = {
    ...headers,
    ...UNCACHED_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
  socket.write(withBody ? head + body : head);
}
