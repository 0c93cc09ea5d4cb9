import type { Principal } from '../../shared/domain/principal';

export type Rejection =
  'rate_limit_exceeded' | 'daily_quota_exceeded' | 'key_temporarily_banned' | 'too_many_auth_failures';

/** What the limiter says of one request, and the window that the three rate headers describe. Times in ms since the epoch. */
export interface RateDecision {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
  /** When it was decided, by the limiter's own clock. */
  readonly decidedAt: number;
  /** Why the request is rejected; undefined when it passes. */
  readonly rejection: Rejection | undefined;
}

/** The usage of one fixed window. `endsAt` is in ms since the epoch. */
export interface Window {
  readonly limit: number;
  used: number;
  readonly endsAt: number;
}

/** The usage of both windows of an account. */
export interface AccountWindows {
  readonly minute: Window;
  readonly day: Window;
}

/** What the next request of a key will find. A window that is not open ends as if it opened now. Times in ms since the epoch. */
export interface RateLimitUsage {
  readonly windows: AccountWindows;
  /** The end of the key's ban; undefined when it is not banned. */
  readonly bannedUntil: number | undefined;
  /** When it was read, by the limiter's own clock. */
  readonly readAt: number;
}

type BanListener = (principal: Principal, bannedUntil: number) => void;
type ReplyListener = (ms: number) => void;

/** What operators watch of a limiter. */
export class RateLimiterEvents {
  bansImposed = 0;
  /** Whether this replica counts by itself because the store that all share cannot be used. */
  isDegraded = false;
  /** How many times it began to. */
  breakerOpenings = 0;
  private readonly banListeners: BanListener[] = [];
  private readonly replyListeners: ReplyListener[] = [];

  onBan(listener: BanListener): void {
    this.banListeners.push(listener);
  }

  /** @param listener told how long the shared store took to reply, in ms */
  onReply(listener: ReplyListener): void {
    this.replyListeners.push(listener);
  }

  recordBan(principal: Principal, bannedUntil: number): void {
    this.bansImposed++;
    this.banListeners.forEach((listener) => {
      listener(principal, bannedUntil);
    });
  }

  recordReply(ms: number): void {
    this.replyListeners.forEach((listener) => {
      listener(ms);
    });
  }
}

/**
 * Decides whether a request passes, in one atomic step that is exact for all replicas that share the adapter's store.
 *
 * An account has two fixed windows: a minute that opens at its first counted request, and the UTC calendar day. A
 * request is counted in both or, when either is exhausted, rejected and counted in none. A key with more rejections
 * within the ban window than its allowance per minute is banned, longer each time. When a request shows that its ban was
 * lifted, what it did before is forgotten; a request from somewhere that has not heard of it yet does not bring that back.
 */
export abstract class RateLimiter {
  readonly events = new RateLimiterEvents();

  /** Counts a request of a valid key, or rejects it. */
  abstract countRequest(principal: Principal): RateDecision | Promise<RateDecision>;

  /** Reads the usage of an account and a key; counts and changes nothing. */
  abstract readUsage(principal: Principal): RateLimitUsage | Promise<RateLimitUsage>;

  /**
   * Counts a failed authentication of an address (cost 1), or only tells what this replica knows of its window (cost 0).
   * IPv6 addresses count by their /64 network.
   */
  abstract countAuthFailure(address: string, cost: 0 | 1): RateDecision | Promise<RateDecision>;
}
