import type { RateLimitDecision } from './rate-limiter';

/** The name of a throttler without a name. */
export const DEFAULT_THROTTLER = 'default';

/** A fixed window of `@Throttle()`. Durations are in ms. */
export interface ThrottleWindow {
  /** The name of its throttler. */
  readonly name: string;
  readonly limit: number;
  readonly ttl: number;
  /** How long the window stays closed from the first rejection on; until its end if this equals `ttl`. */
  readonly blockDuration: number;
}

/** The decision about one request. */
export interface Throttled {
  readonly decision: RateLimitDecision;
  /** Takes back an admitted request. */
  readonly undo: () => Promise<void> | void;
}

/**
 * The `ThrottlerStorage` of the service. Exactly as many requests as the limit pass in each window of a key, across all replicas that share
 * a store. Rejected requests are not counted.
 */
export abstract class ThrottleStorage {
  /** @returns the decision, and what the guard of `@nestjs/throttler` would read: durations in seconds */
  async increment(key: string, ttl: number, limit: number, blockDuration: number, name = DEFAULT_THROTTLER) {
    const throttled = await this.consume(key, { name, limit, ttl, blockDuration });
    const { remaining, resetAt, decidedAt, rejection } = throttled.decision;
    const isBlocked = rejection !== undefined;
    const timeToExpire = Math.ceil((resetAt - decidedAt) / 1_000);
    const totalHits = isBlocked ? limit + 1 : limit - remaining;
    return { ...throttled, totalHits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 };
  }

  protected abstract consume(key: string, window: ThrottleWindow): Promise<Throttled>;
}
