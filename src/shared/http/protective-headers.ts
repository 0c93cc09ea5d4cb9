import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { CORS_HEADERS } from './cors';
import helmet from 'helmet';
import { isUnderV1 } from './url-check';

/**
 * What every answer tells a browser: take it for nothing but what it says it is, and never as a page of its own.
 *
 * helmet is asked once, not at every request, as it says the same each time. Left out is what only old browsers or pages
 * know, and Strict-Transport-Security: the service speaks plain HTTP, where it must not be sent (RFC 6797 section 7.2);
 * it is up to the gateway that ends TLS.
 */
const PROTECTIVE_HEADERS = headersOf({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  xFrameOptions: { action: 'deny' },
  referrerPolicy: { policy: 'no-referrer' },
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

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

/** The protective and caching headers an answer begins with; a route may replace them. */
export function initialHeaders(url: string): Readonly<Record<string, string>> {
  if (isUnderV1(url)) {
    return OF_ONE_ACCOUNT;
  }
  return /^\/metrics(\?|$)/.test(url) ? FOR_OPERATORS : UNCACHED_HEADERS;
}

function headersOf(options: Parameters<typeof helmet>[0]): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => undefined);
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
}
