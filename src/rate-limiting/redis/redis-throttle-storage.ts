import { type Throttled, ThrottleStorage, type ThrottleWindow } from '../domain/throttle-storage';
import { createThrottledDecision } from '../domain/windows';
import { MemoryThrottleStorage } from '../memory/memory-throttle-storage';
import type { RedisRateLimiter } from './redis-rate-limiter';

/** Shares the windows of all replicas: one Redis script per request, and the memory of the replica while Redis is unavailable. */
export class RedisThrottleStorage extends ThrottleStorage {
  private readonly memory: MemoryThrottleStorage;

  constructor(private readonly limiter: RedisRateLimiter) {
    super();
    this.memory = new MemoryThrottleStorage(limiter.clock);
  }

  async consume(key: string, window: ThrottleWindow): Promise<Throttled> {
    const result = await this.limiter.callStore(key, (store, deadline) => store.throttle(key, window, deadline));
    if (result === undefined) {
      return this.memory.consume(key, window);
    }
    const { now, isAdmitted, window: counted } = result;
    const known = this.memory.store(key, counted, isAdmitted, now);
    const undo = async () => {
      known.used--;
      known.admitted--;
      await this.limiter.callStore(key, (store) => store.undoThrottle(key, counted.endsAt));
    };
    if (isAdmitted && known.admitted > window.limit) {
      // While Redis was unavailable, this replica has admitted requests that Redis has not counted.
      await undo();
      return this.memory.consume(key, window);
    }
    return { decision: createThrottledDecision(counted, window, !isAdmitted, now), undo };
  }
}
