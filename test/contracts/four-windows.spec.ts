import { MemoryRateLimiter } from '../../src/rate-limiting/memory/memory-rate-limiter';
import { describeRateLimiter } from './rate-limiter.contract';

jest.mock('../../src/shared/domain/allowance', () => jest.requireActual<object>('../support/four-windows'));

describeRateLimiter('memory, with an hour and a week', (clock, settings) => new MemoryRateLimiter(clock, settings));
