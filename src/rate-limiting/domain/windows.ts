import type { Principal } from '../../shared/domain/principal';
import type { AccountWindows, RateLimitDecision, Rejection, Window } from './rate-limiter';

export type { AccountWindows, Window };

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The end of the UTC calendar day, in ms since the epoch. */
export function getEndOfDay(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS + DAY_MS;
}

export function isExhausted({ used, limit }: Window): boolean {
  return used >= limit;
}

/** The decision for a counted request. It shows the window with the fewest requests left; on a tie, the one that ends later. */
export function createAdmittedDecision({ minute, day }: AccountWindows, now: number): RateLimitDecision {
  const difference = minute.limit - minute.used - (day.limit - day.used);
  return createDecision(difference < 0 || (difference === 0 && minute.endsAt > day.endsAt) ? minute : day, now);
}

/** The decision for a request rejected by an exhausted window. It shows the exhausted window that ends last. */
export function createRejectedDecision({ minute, day }: AccountWindows, now: number): RateLimitDecision {
  const isMinute = !isExhausted(day) || (isExhausted(minute) && minute.endsAt > day.endsAt);
  return isMinute
    ? createDecision(minute, now, 'rate_limit_exceeded')
    : createDecision(day, now, 'daily_quota_exceeded');
}

/** The decision for a request with a banned key. */
export function createBannedDecision({ allowance }: Principal, bannedUntil: number, now: number): RateLimitDecision {
  const limit = allowance.perMinute;
  return createDecision({ limit, used: limit, endsAt: bannedUntil }, now, 'key_temporarily_banned');
}

/** The decision for a request without a valid key, by the window of its client IP address. */
export function createAuthFailureDecision(window: Window, isRejected: boolean, now: number): RateLimitDecision {
  return createDecision(window, now, isRejected ? 'too_many_auth_failures' : undefined);
}

export function createDecision(
  { limit, used, endsAt }: Window,
  decidedAt: number,
  rejection?: Rejection,
): RateLimitDecision {
  return { limit, remaining: Math.max(0, limit - used), resetAt: endsAt, decidedAt, rejection };
}
