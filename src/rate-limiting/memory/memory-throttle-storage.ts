import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import { type Throttled, ThrottleStorage, type ThrottleWindow } from '../domain/throttle-storage';
import { createThrottledDecision } from '../domain/windows';

const CAPACITY = 100_000;

/** Keeps the windows of a single replica in memory. */
export class MemoryThrottleStorage extends ThrottleStorage {
  private readonly windows = new ExpiringMap<string, { used: number; expiresAt: number }>(CAPACITY);

  constructor(private readonly clock: Clock) {
    super();
  }

  consume(key: string, throttle: ThrottleWindow): Promise<Throttled> {
    const { limit, ttl, blockDuration } = throttle;
    const [now, monotonicNow] = [this.clock.now(), this.clock.monotonic()];
    const window = this.windows.get(key, monotonicNow) ?? { used: 0, expiresAt: monotonicNow + ttl };
    const isAdmitted = window.used < limit;
    if (isAdmitted) {
      window.used++;
    } else if (window.used === limit && blockDuration !== ttl) {
      // More than the limit: a blocked window.
      window.used++;
      window.expiresAt = monotonicNow + blockDuration;
    }
    this.windows.set(key, window, monotonicNow);
    const endsAt = now + window.expiresAt - monotonicNow;
    const decision = createThrottledDecision({ limit, used: window.used, endsAt }, throttle, !isAdmitted, now);
    return Promise.resolve({ decision, undo: () => void window.used-- });
  }

  /** Adopts the usage that a shared store reported. @returns the window, until the next report */
  store(key: string, used: number, remainingMs: number): { used: number } {
    const monotonicNow = this.clock.monotonic();
    const window = { used, expiresAt: monotonicNow + remainingMs };
    this.windows.set(key, window, monotonicNow);
    return window;
  }
}
