import type { IncomingMessage } from 'node:http';
import { PetStoreError } from '../../domain/pet-store-error';

/** RFC 9110 section 4.1 recommends supporting at least 8000 octets. */
export const MAX_URL_LENGTH = 8_000;
/** Paths that no route has. */
const REJECTED_PATH = '/-';
const REJECTED_PATH_UNDER_V1 = '/v1/-';

/** A host name, or an IP address, with or without a port (RFC 9110 section 7.2). Several `Host` fields arrive joined by ", ". */
const HOST = /^([\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(:\d*)?$/i;

/** Whether a URL, in origin form, is `/v1` or something below it. */
export function isUnderV1(url: string): boolean {
  return /^\/v1([/?]|$)/.test(url);
}

const urlErrors = new WeakMap<IncomingMessage, PetStoreError>();

/**
 * Runs before routing. A request that the HTTP layer itself would reject gets to a path without a route; under `/v1`, the guards then
 * run first. `getUrlError` returns the error for the response.
 */
export function rewriteUrl(request: IncomingMessage): string {
  const url = normalizePath(toOriginForm(request.url ?? '/'));
  const error =
    findHeaderError(request) ?? (isUnderV1(url) ? findUrlErrorUnderV1(url) : undefined) ?? findUrlError(url);
  if (error === undefined) {
    return url;
  }
  urlErrors.set(request, error);
  return isUnderV1(url) ? REJECTED_PATH_UNDER_V1 : REJECTED_PATH;
}

export function getUrlError(request: IncomingMessage): PetStoreError | undefined {
  return urlErrors.get(request);
}

function findHeaderError({ httpVersion, headers }: IncomingMessage): PetStoreError | undefined {
  const { host, 'transfer-encoding': coding = 'chunked' } = headers;
  if (host === undefined ? httpVersion !== '1.0' : !HOST.test(host)) {
    return new PetStoreError(
      'malformed_request',
      `The Host header ${host === undefined ? 'is missing' : 'is not one host'}.`,
    );
  }
  return coding.toLowerCase() === 'chunked'
    ? undefined
    : new PetStoreError('not_implemented', 'The only supported transfer coding is chunked.');
}

function findUrlErrorUnderV1(url: string): PetStoreError | undefined {
  const path = url.split('?', 1)[0] ?? '';
  // The router would treat the empty segment as an empty parameter.
  return (path.endsWith('/') && path !== '/v1/') || path.includes('//')
    ? new PetStoreError('route_not_found')
    : undefined;
}

function findUrlError(url: string): PetStoreError | undefined {
  if (url.length > MAX_URL_LENGTH) {
    return new PetStoreError('uri_too_long', `The URL must be at most ${MAX_URL_LENGTH} characters long.`);
  }
  if (url.includes('%')) {
    try {
      decodeURIComponent(url);
    } catch {
      return new PetStoreError('malformed_url');
    }
  }
  return undefined;
}

/** Decodes the characters of the path that need no encoding (RFC 3986 section 6.2.2.2), so that each resource has one URL. */
function normalizePath(url: string): string {
  return url.includes('%')
    ? url.replace(/^[^?]*/, (path) =>
        path.replace(/%(?:2[de]|3\d|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi, (code) => decodeURIComponent(code)),
      )
    : url;
}

/** The absolute form sent to a proxy (RFC 9112 section 3.2.2) identifies the same resource as its path. */
export function toOriginForm(url: string): string {
  return /^https?:\/\//i.test(url) ? url.replace(/^https?:\/\/[^/?#]*\/?/i, '/') : url;
}
