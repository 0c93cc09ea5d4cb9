import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Window } from '../domain/rate-limiter';
import { type Throttled, ThrottleStorage, type ThrottleWindow } from '../domain/throttle-storage';
import { createThrottledDecision } from '../domain/windows';

const CAPACITY = 100_000;

interface CountedWindow {
  used: number;
  /** The requests that this replica admitted. */
  admitted: number;
  /** The end in ms since the epoch. */
  endsAt: number;
  /** The end by the monotonic clock. */
  expiresAt: number;
}

/** Keeps the windows of a single replica in memory. */
export class MemoryThrottleStorage extends ThrottleStorage {
  private readonly windows = new ExpiringMap<string, CountedWindow>(CAPACITY);

  constructor(private readonly clock: Clock) {
    super();
  }

  consume(key: string, throttle: ThrottleWindow): Promise<Throttled> {
    const { limit, ttl, blockDuration } = throttle;
    const [now, monotonicNow] = [this.clock.now(), this.clock.monotonic()];
    const end = (duration: number) => ({ endsAt: now + duration, expiresAt: monotonicNow + duration });
    const window = this.windows.get(key, monotonicNow) ?? { used: 0, admitted: 0, ...end(ttl) };
    const isAdmitted = window.used < limit;
    if (isAdmitted) {
      window.used++;
      window.admitted++;
    } else if (window.used === limit && blockDuration !== ttl) {
      // More than the limit: a blocked window.
      window.used++;
      Object.assign(window, end(blockDuration));
    }
    this.windows.set(key, window, monotonicNow);
    const endsAt = now + window.expiresAt - monotonicNow;
    const decision = createThrottledDecision({ limit, used: window.used, endsAt }, throttle, !isAdmitted, now);
    const undo = () => {
      window.used--;
      window.admitted--;
    };
    return Promise.resolve({ decision, undo });
  }

  /**
   * Adopts the reply of a shared store.
   * @param now the time of the reply
   * @returns the window as known to this replica. If it has opened one alone, the one that ends first remains.
   */
  store(key: string, { used, endsAt }: Window, isAdmitted: boolean, now: number): CountedWindow {
    const monotonicNow = this.clock.monotonic();
    const known = this.windows.get(key, monotonicNow);
    const isOpen = known !== undefined && known.endsAt > now;
    const window = isOpen ? known : { used: 0, admitted: 0, endsAt, expiresAt: Infinity };
    window.admitted += isAdmitted ? 1 : 0;
    window.used = Math.max(used, window.admitted);
    window.endsAt = isAdmitted ? Math.min(window.endsAt, endsAt) : endsAt;
    window.expiresAt = monotonicNow + window.endsAt - now;
    this.windows.set(key, window, monotonicNow);
    return window;
  }
}
