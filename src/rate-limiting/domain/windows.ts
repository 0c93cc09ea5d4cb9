import {
  type Allowance,
  MINUTE_MS,
  type WindowDefinition,
  type WindowName,
  WINDOWS,
} from '../../shared/domain/allowance';
import type { AccountWindows, NamedWindow, RateLimitDecision, Rejection, Window } from './rate-limiter';
import { DEFAULT_THROTTLER, type ThrottleWindow } from './throttle-storage';

/** Creates a value for each window. */
export function mapWindows<T>(create: (definition: (typeof WINDOWS)[number]) => T): Record<WindowName, T> {
  const values: Partial<Record<WindowName, T>> = {};
  for (const definition of WINDOWS) {
    values[definition.name] = create(definition);
  }
  return values as Record<WindowName, T>;
}

/** The end of a window that opens now, in ms since the epoch. */
export function getEnd({ lengthMs, opens }: WindowDefinition, now: number): number {
  return (opens === 'calendar' ? Math.floor(now / lengthMs) * lengthMs : now) + lengthMs;
}

export function isExhausted({ used, limit }: Window): boolean {
  return used >= limit;
}

/** The requests left in a window. Its usage may exceed a limit that was lowered. */
export function getRemaining({ limit, used }: Pick<Window, 'limit' | 'used'>): number {
  return Math.max(0, limit - used);
}

/** The decision for a counted request. It shows the window with the fewest requests left; on a tie, the one that ends later. */
export function createAdmittedDecision(windows: AccountWindows, now: number): RateLimitDecision {
  const named = nameWindows(windows);
  const shown = named.reduce((one, other) => {
    const difference = getRemaining(one) - getRemaining(other);
    return difference < 0 || (difference === 0 && one.endsAt > other.endsAt) ? one : other;
  });
  return createDecision(shown, now, named);
}

/** The decision for a request rejected by an exhausted window. It shows the exhausted window that ends last. */
export function createRejectedDecision(windows: AccountWindows, now: number): RateLimitDecision {
  const exhausted = WINDOWS.filter(({ name }) => isExhausted(windows[name]));
  const { name, error } = exhausted.reduce(
    (one, other) => (windows[one.name].endsAt > windows[other.name].endsAt ? one : other),
    exhausted[0] ?? WINDOWS[0],
  );
  return createDecision(windows[name], now, nameWindows(windows), error);
}

/** The decision for a request with a banned key. No window has requests left until the ban ends. */
export function createBannedDecision(allowance: Allowance, bannedUntil: number, now: number): RateLimitDecision {
  const close = (limit: number) => ({ limit, used: limit, endsAt: bannedUntil });
  const windows = nameWindows(mapWindows(({ limit }) => close(allowance[limit])));
  return createDecision(close(allowance.perMinute), now, windows, 'key_temporarily_banned');
}

/** The decision for a request without a valid key, by the window of its client IP address. */
export function createAuthFailureDecision(window: Window, isRejected: boolean, now: number): RateLimitDecision {
  const windows = [{ name: 'client-ip', lengthMs: MINUTE_MS, ...window }];
  return createDecision(window, now, windows, isRejected ? 'too_many_auth_failures' : undefined);
}

/** The decision for a request to an operation with a limit of its own. */
export function createThrottledDecision(
  window: Window,
  { name, ttl: lengthMs }: ThrottleWindow,
  isRejected: boolean,
  now: number,
): RateLimitDecision {
  const windows = [{ name: name === DEFAULT_THROTTLER ? 'operation' : name, lengthMs, ...window }];
  return createDecision(window, now, windows, isRejected ? 'rate_limit_exceeded' : undefined);
}

function createDecision(
  { limit, used, endsAt }: Window,
  decidedAt: number,
  windows: readonly NamedWindow[],
  rejection?: Rejection,
): RateLimitDecision {
  return { limit, remaining: getRemaining({ limit, used }), resetAt: endsAt, decidedAt, rejection, windows };
}

function nameWindows(windows: AccountWindows): NamedWindow[] {
  return WINDOWS.map(({ name, lengthMs }) => {
    const { limit, used, endsAt } = windows[name];
    return { name, lengthMs, limit, used, endsAt };
  });
}
