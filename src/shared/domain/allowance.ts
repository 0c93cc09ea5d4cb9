export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The windows in which the requests of each account are counted, from the shortest to the longest. */
export const WINDOWS = [
  { name: 'minute', limit: 'perMinute', lengthMs: MINUTE_MS, opens: 'first request', error: 'rate_limit_exceeded' },
  { name: 'day', limit: 'perDay', lengthMs: DAY_MS, opens: 'calendar', error: 'daily_quota_exceeded' },
] as const satisfies readonly WindowDefinition[];

export interface WindowDefinition {
  /** The name in headers, responses and Redis; it must not change. */
  readonly name: string;
  /** The name of the window's limit in an allowance. */
  readonly limit: string;
  /** A multiple of 1,000. */
  readonly lengthMs: number;
  /** Whether the window opens with the first counted request, or when the time in UTC is a multiple of its length. */
  readonly opens: 'first request' | 'calendar';
  /** The error code when the window is exhausted. */
  readonly error: string;
}

type AnyWindow = (typeof WINDOWS)[number];
export type WindowName = AnyWindow['name'];
export type WindowError = AnyWindow['error'];

/** The request limits of an account for each window; all are integers of at least 1. */
export type Allowance = Readonly<Record<AnyWindow['limit'], number>>;

/** The largest limit that an account can have for a window. */
export const MAX_REQUEST_LIMIT = 1_000_000_000;
