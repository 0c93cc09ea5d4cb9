import { Clock } from '../../shared/domain/clock';

/** Replies differ by less than this in how long they take; a greater difference means that Redis's clock was set back. */
const JITTER_MS = 100;

/**
 * Redis's time, by the time that has passed here since Redis last told it; the replica's own until then. Setting the replica's
 * clock does not change it.
 */
export class RedisTime extends Clock {
  private origin: number;

  constructor(private readonly clock: Clock) {
    super();
    this.origin = clock.now() - clock.monotonic();
  }

  now(): number {
    return this.origin + this.clock.monotonic();
  }

  monotonic(): number {
    return this.clock.monotonic();
  }

  /** The reply that took the least time tells it best. */
  follow(redisNow: number): void {
    const origin = redisNow - this.clock.monotonic();
    if (origin > this.origin || origin < this.origin - JITTER_MS) {
      this.origin = origin;
    }
  }
}
