import { MemoryThrottleStorage } from '../../src/rate-limiting/memory/memory-throttle-storage';
import { describeThrottleStorage } from './throttle-storage.contract';

describeThrottleStorage('memory', (clock) => new MemoryThrottleStorage(clock));
