import { HttpStatus } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

const EXPOSED_HEADERS = [
  'Date',
  'Deprecation',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  // The wildcard covers headers of added modules. Browsers that do not support it treat it as a header name.
  '*',
];
const DAY_SECONDS = '86400';

/** Lets pages of any origin call the service and read its responses (Fetch standard, CORS protocol). */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
};

/**
 * Responds to a CORS preflight, which has no key. An OPTIONS request that is not a preflight by the Fetch standard goes to the guards.
 * @returns whether the request was a preflight
 */
export function respondToPreflight(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  routes: { readonly getMethods: () => string[] },
): boolean {
  if (method !== 'OPTIONS' || !headers.origin || !headers['access-control-request-method']) {
    return false;
  }
  const requested = headers['access-control-request-headers'];
  void reply
    .status(HttpStatus.NO_CONTENT)
    .headers({
      'access-control-allow-methods': routes.getMethods().join(', '),
      'access-control-max-age': DAY_SECONDS,
      vary: 'Access-Control-Request-Headers',
      ...(requested !== undefined && { 'access-control-allow-headers': requested }),
    })
    .send();
  return true;
}
