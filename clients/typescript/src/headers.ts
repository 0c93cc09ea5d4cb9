/** The rate limit window with the fewest requests left, in the `X-RateLimit-*` headers. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: Date;
}

/** A rate limit window, with the time until it resets, which does not depend on the client's clock. */
export interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    parseInteger(headers.get(`X-RateLimit-${name}`)),
  );
  return limit === undefined || remaining === undefined || reset === undefined
    ? undefined
    : { limit, remaining, reset: new Date(reset * 1_000) };
}

/**
 * Reads the window of the account with the fewest requests left from `RateLimit`, or else from `X-RateLimit-*`. A response to a
 * request without a valid key has the window of the client IP address instead.
 */
export function readWindow(headers: Headers): Window | undefined {
  const policies = new Map(parseItems(headers.get('RateLimit-Policy')));
  const items = parseItems(headers.get('RateLimit'));
  if (items.some(([name]) => name === 'client-ip')) {
    return undefined;
  }
  const [window] = items
    .flatMap(([name, { r, t }]) =>
      r === undefined || t === undefined
        ? []
        : { limit: policies.get(name)?.q ?? Infinity, remaining: r, resetMs: t * 1_000 },
    )
    .sort((one, other) => one.remaining - other.remaining || other.resetMs - one.resetMs);
  const rateLimit = readRateLimit(headers);
  return window ?? (rateLimit && { ...rateLimit, resetMs: rateLimit.reset.getTime() - readDate(headers) });
}

/** Reads the seconds in `Retry-After`, which can also be a date. */
export function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After');
  const date = Date.parse(value ?? '');
  return parseInteger(value) ?? (isNaN(date) ? undefined : Math.max(0, Math.ceil((date - readDate(headers)) / 1_000)));
}

/** Reads the URL with the relation type `next` from `Link` (RFC 8288). */
export function readNextLink(headers: Headers): string | undefined {
  const links = (headers.get('Link') ?? '').matchAll(/<([^>]*)>((?:[^",]|"(?:[^"\\]|\\.)*")*)/g);
  for (const [, url, parameters = ''] of links) {
    const [, , quoted, token = quoted] =
      [...parameters.matchAll(/;\s*([^\s=;]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";]+)))?/g)].find(
        ([, name]) => name?.toLowerCase() === 'rel',
      ) ?? [];
    if (token?.toLowerCase().split(/\s+/).includes('next')) {
      return url;
    }
  }
  return undefined;
}

/** The time of the response by the service's clock. */
function readDate(headers: Headers): number {
  const date = Date.parse(headers.get('Date') ?? '');
  return isNaN(date) ? Date.now() : date;
}

/** Parses a list of named items with integer parameters, such as `"minute";r=58;t=42`. */
function parseItems(header: string | null): [name: string, parameters: Readonly<Record<string, number>>][] {
  const items = [...(header ?? '').matchAll(/"([^"]*)"([^,]*)/g)];
  return items.map(([, name = '', parameters = '']) => [
    name,
    Object.fromEntries([...parameters.matchAll(/;\s*(\w+)=(\d+)/g)].map(([, key, value]) => [key, Number(value)])),
  ]);
}

function parseInteger(value: string | null): number | undefined {
  return value !== null && /^\d+$/.test(value) ? Number(value) : undefined;
}
