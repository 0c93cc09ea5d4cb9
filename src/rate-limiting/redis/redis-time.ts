import { Clock } from '../../shared/domain/clock';

/** The response times of Redis vary by less than this; a greater difference means that Redis's clock was set back. */
const JITTER_MS = 100;

/**
 * Redis's time: the time it last reported plus the time elapsed here since. Until the first report, it is the replica's own
 * time. Setting the replica's clock does not change it.
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

  /** The reply with the shortest delay gives the most accurate time. */
  follow(redisNow: number): void {
    const origin = redisNow - this.clock.monotonic();
    if (origin > this.origin || origin < this.origin - JITTER_MS) {
      this.origin = origin;
    }
  }
}
