import type { IncomingHttpHeaders } from 'node:http';

const EXPOSED_HEADERS = [
  'Deprecation',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];
const DAY_SECONDS = '86400';

/** Lets pages of any origin call the service and read its answers (Fetch standard, CORS protocol). */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
};

/**
 * What a CORS preflight is answered, without a key; undefined for every other request. An OPTIONS that the Fetch standard
 * does not call a preflight is for the guards.
 */
export function preflightHeaders(
  method: string,
  headers: IncomingHttpHeaders,
  allowedMethods: readonly string[],
): Record<string, string> | undefined {
  if (method !== 'OPTIONS' || !headers.origin || !headers['access-control-request-method']) {
    return undefined;
  }
  const requested = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': allowedMethods.join(', '),
    'access-control-max-age': DAY_SECONDS,
    vary: 'Access-Control-Request-Headers',
    ...(requested !== undefined && { 'access-control-allow-headers': requested }),
  };
}
