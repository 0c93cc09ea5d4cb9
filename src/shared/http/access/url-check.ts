import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';

/** RFC 9110 section 4.1 recommends supporting at least 8000 octets. */
export const MAX_URL_LENGTH = 8_000;
export const UNSUPPORTED_CODING = 'The only supported transfer coding is chunked.';
/** A path that no route has, also below `/v1`. */
const REJECTED_PATH = '/-';

/** The absolute form of a URL up to its path, with the host (RFC 9112 section 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)\/?/i;
/** A host name, or an IP address, with or without a port (RFC 9110 section 7.2). Several `Host` fields arrive joined by ", ". */
const HOST = /^([\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(:\d*)?$/i;

/** Returns the version in a URL, in origin form, such as `1` for `/v1` and everything below it; undefined if the API has no such version. */
export function findApiVersion(url: string, { apiVersions }: Pick<FastifyInstance, 'apiVersions'>): string | undefined {
  const version = /^\/v([^/?#]+)/.exec(url)?.[1];
  return version !== undefined && apiVersions.has(version) ? version : undefined;
}

const urlErrors = new WeakMap<IncomingMessage, PetStoreError>();

/**
 * Runs before routing. A request that the HTTP layer itself would reject gets to a path without a route; under a version of the API, the
 * guards then run first. `getUrlError` returns the error for the response.
 */
export function rewriteUrl(this: FastifyInstance, request: IncomingMessage): string {
  const url = normalizePath(toOriginForm(request.url ?? '/'));
  const version = findApiVersion(url, this);
  const error =
    findHeaderError(request) ??
    (version === undefined ? undefined : findPathError(url, `/v${version}/`)) ??
    findUrlError(url);
  if (error === undefined) {
    return url;
  }
  urlErrors.set(request, error);
  return version === undefined ? REJECTED_PATH : `/v${version}${REJECTED_PATH}`;
}

export function getUrlError(request: IncomingMessage): PetStoreError | undefined {
  return urlErrors.get(request);
}

function findHeaderError({ httpVersion, url = '', headers }: IncomingMessage): PetStoreError | undefined {
  const { host, 'transfer-encoding': coding = 'chunked' } = headers;
  const [, target = host] = ABSOLUTE_FORM.exec(url) ?? [];
  if (target !== host && !HOST.test(target ?? '')) {
    return new PetStoreError('malformed_request', 'The URL has no valid host.');
  }
  if (host === undefined ? httpVersion !== '1.0' : !HOST.test(host)) {
    return new PetStoreError(
      'malformed_request',
      `The Host header ${host === undefined ? 'is missing' : 'is not one host'}.`,
    );
  }
  return coding.toLowerCase() === 'chunked' ? undefined : new PetStoreError('not_implemented', UNSUPPORTED_CODING);
}

function findPathError(url: string, root: string): PetStoreError | undefined {
  const path = url.split('?', 1)[0] ?? '';
  // The router would treat the empty segment as an empty parameter.
  return (path.endsWith('/') && path !== root) || path.includes('//')
    ? new PetStoreError('route_not_found')
    : undefined;
}

function findUrlError(url: string): PetStoreError | undefined {
  if (url.length > MAX_URL_LENGTH) {
    return new PetStoreError('uri_too_long', `The URL must be at most ${MAX_URL_LENGTH} characters long.`);
  }
  // RFC 9112 section 3.2: no request has a fragment. The router would end the path there.
  if (url.includes('#')) {
    return new PetStoreError('malformed_url', 'The URL contains #. Percent-encode it as %23.');
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
  return url.replace(ABSOLUTE_FORM, '/');
}
