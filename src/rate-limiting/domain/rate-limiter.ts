import type { WindowError, WindowName } from '../../shared/domain/allowance';
import type { Principal } from '../../shared/domain/principal';

export type Rejection = WindowError | 'key_temporarily_banned' | 'too_many_auth_failures';

/** The usage of one fixed window. `endsAt` is in ms since the epoch. */
export interface Window {
  readonly limit: number;
  readonly used: number;
  readonly endsAt: number;
}

/** The usage of the windows of an account. */
export type AccountWindows = Readonly<Record<WindowName, Window>>;

/** A window that applies to a request, with its name and length for clients. */
export interface NamedWindow extends Window {
  readonly name: string;
  readonly lengthMs: number;
}

/** The decision about one request, and the window that the `X-RateLimit` headers describe. Times are in ms since the epoch. */
export interface RateLimitDecision {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
  /** The time of the decision, by the limiter's own clock. */
  readonly decidedAt: number;
  /** Why the request is rejected; undefined when it is admitted. */
  readonly rejection: Rejection | undefined;
  /** All windows that apply to the request, for the `RateLimit` headers. */
  readonly windows: readonly NamedWindow[];
}

/** The rate limit usage of a key. A window that is not open is reported as if it opened now. Times are in ms since the epoch. */
export interface RateLimitUsage {
  readonly windows: AccountWindows;
  /** The end of the key's ban; undefined when it is not banned. */
  readonly bannedUntil: number | undefined;
  /** The time of the reading, by the limiter's own clock. */
  readonly readAt: number;
}

type BanListener = (principal: Principal, bannedUntil: number) => void;
type ReplyListener = (ms: number) => void;

/** The events and states of a limiter that operators monitor. */
class RateLimiterMonitor {
  bansImposed = 0;
  /** Whether this replica counts locally because the shared store is unavailable. */
  isDegraded = false;
  /** How many times this replica became degraded. */
  breakerOpenings = 0;
  private readonly banListeners: BanListener[] = [];
  private readonly replyListeners: ReplyListener[] = [];

  onBan(listener: BanListener): void {
    this.banListeners.push(listener);
  }

  /** @param listener receives the response time of the shared store in ms */
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
 * Decides whether a request is admitted. Each decision is one atomic step, exact across all replicas that share a store.
 *
 * An account has the fixed windows in `WINDOWS`. A request is counted in all of them; when one is exhausted, the request is rejected and
 * counted in none. A key is banned when its rejections within the ban window exceed its per-minute allowance, without those in the grace
 * period after the first one in the same exhausted window. Each consecutive ban lasts longer, up to the last configured duration.
 * Rejections and bans that were recorded with a lower unban count do not apply to a request; the first rejection with the higher count
 * replaces them, also for requests with the lower count.
 */
export abstract class RateLimiter {
  readonly monitor = new RateLimiterMonitor();

  /** Counts a request with a valid key, or rejects it. */
  abstract consume(principal: Principal): RateLimitDecision | Promise<RateLimitDecision>;

  /** Reads the usage of an account and a key without changing it. */
  abstract readUsage(principal: Principal): RateLimitUsage | Promise<RateLimitUsage>;

  /** Counts a failed authentication from a client IP address, or rejects it. IPv6 addresses are grouped by /64 network. */
  abstract countAuthFailure(ip: string): RateLimitDecision | Promise<RateLimitDecision>;

  /** Returns the window of a client IP address as this replica knows it. */
  abstract readAuthFailures(ip: string): RateLimitDecision;
}
