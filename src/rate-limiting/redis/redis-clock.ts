import { Clock } from '../../shared/domain/clock';

/** The response times of Redis vary by less than this; a greater difference means that Redis's clock was set back. */
const JITTER_MS = 100;

/**
 * The time of Redis: the last reported time plus the time that has elapsed since, by this replica's monotonic clock. Until the first
 * report, it is the replica's own time. Setting the replica's clock does not change it.
 */
export class RedisClock extends Clock {
  private origin: number;

  constructor(private readonly localClock: Clock) {
    super();
    this.origin = localClock.now() - localClock.monotonic();
  }

  now(): number {
    return this.origin + this.localClock.monotonic();
  }

  monotonic(): number {
    return this.localClock.monotonic();
  }

  /**
   * Adopts the time in a reply, unless the reply may only have been delayed: a delay makes Redis's time look earlier, by less
   * than `JITTER_MS`.
   */
  synchronize(redisNow: number): void {
    const origin = redisNow - this.localClock.monotonic();
    if (origin > this.origin || origin < this.origin - JITTER_MS) {
      this.origin = origin;
    }
  }
}
