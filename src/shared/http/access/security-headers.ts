import type { FastifyRequest } from 'fastify';
import { CORS_HEADERS } from './cors';
import { findApiVersion } from './url-check';

/**
 * Security headers of every response: browsers must not sniff its type or show it as a page (OWASP Secure Headers Project).
 * Strict-Transport-Security is left to the gateway that terminates TLS, because it must not be sent over plain HTTP (RFC 6797 section 7.2).
 */
const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Responses for operators: no cache may store them, and no page of another origin may read them. */
const OPERATOR_HEADERS = { ...SECURITY_HEADERS, 'cache-control': 'no-store' };
/** Responses that no cache may store. */
export const UNCACHED_HEADERS = { ...CORS_HEADERS, ...OPERATOR_HEADERS };
/** Responses that belong to one account: no shared cache may store them, and no client may reuse them for another key. */
const ACCOUNT_HEADERS = {
  ...CORS_HEADERS,
  ...SECURITY_HEADERS,
  'cache-control': 'private, no-cache',
  vary: 'Authorization',
};

/** Returns the security and caching headers of every response to a request; a route may override them. */
export function getDefaultHeaders({ url, server }: FastifyRequest): Readonly<Record<string, string>> {
  if (findApiVersion(url, server) !== undefined) {
    return ACCOUNT_HEADERS;
  }
  return /^\/metrics(\?|$)/.test(url) ? OPERATOR_HEADERS : UNCACHED_HEADERS;
}
