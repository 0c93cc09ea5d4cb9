import type { FastifyInstance } from 'fastify';
import { CORS_HEADERS } from './cors';
import { isUnderV1 } from '../server/url-check';

/**
 * What every response tells a browser: take it for nothing but what it says it is, and never as a page of its own (OWASP
 * Secure Headers Project). Strict-Transport-Security is missing as the service speaks plain HTTP, where it must not be sent
 * (RFC 6797 section 7.2): it is up to the gateway that ends TLS.
 */
const PROTECTIVE_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** For operators: no cache may keep it, and no page of another origin may read it. */
const FOR_OPERATORS = { ...PROTECTIVE_HEADERS, 'cache-control': 'no-store' };
/** For an answer that no cache may keep. */
export const UNCACHED_HEADERS = { ...CORS_HEADERS, ...FOR_OPERATORS };
/** An answer belongs to one account: no shared cache may keep it, nor the client give it out for another key. */
const OF_ONE_ACCOUNT = {
  ...CORS_HEADERS,
  ...PROTECTIVE_HEADERS,
  'cache-control': 'private, no-cache',
  vary: 'Authorization, Origin',
};

/** Begins every response with its protective and caching headers, which a route may replace, and the id of the request. */
export function sendInitialHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(initialHeaders(request.url)).header('x-request-id', request.id);
    done();
  });
}

function initialHeaders(url: string): Readonly<Record<string, string>> {
  if (isUnderV1(url)) {
    return OF_ONE_ACCOUNT;
  }
  return /^\/metrics(\?|$)/.test(url) ? FOR_OPERATORS : UNCACHED_HEADERS;
}
