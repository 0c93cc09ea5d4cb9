import type { ThrottleStorage } from '../../src/rate-limiting/domain/throttle-storage';
import { TestClock } from '../support/test-clock';

const TTL = 60_000;

/** Tests the guarantees of the windows of `@Throttle()`, which hold for every adapter. */
export function describeThrottleStorage(
  name: string,
  create: (clock: TestClock) => ThrottleStorage | Promise<ThrottleStorage>,
): void {
  describe(`ThrottleStorage (${name})`, () => {
    let clock: TestClock;
    let storage: ThrottleStorage;

    beforeEach(async () => {
      clock = new TestClock();
      storage = await create(clock);
    });

    const request = (key = 'a', blockDuration = TTL, limit = 3) => storage.increment(key, TTL, limit, blockDuration);
    /** @returns for each request whether it is admitted */
    const requestTimes = async (times: number, ...args: Parameters<typeof request>) => {
      const results = await Promise.all(Array.from({ length: times }, () => request(...args)));
      return results.map(({ isBlocked }) => !isBlocked);
    };

    it('admits exactly the limit, however many requests arrive concurrently, and in the next window again', async () => {
      const all = Array.from({ length: 100 }, (_, index) => index < 3);
      expect(await requestTimes(100)).toEqual(all);
      clock.advance(TTL - 1);
      expect(await requestTimes(1)).toEqual([false]);
      clock.advance(1);
      expect(await requestTimes(100)).toEqual(all);
    });

    it('counts each key on its own', async () => {
      expect(await requestTimes(4)).toEqual([true, true, true, false]);
      expect(await requestTimes(1, 'b')).toEqual([true]);
    });

    it('describes the window, also as @nestjs/throttler does', async () => {
      const startedAt = clock.now();
      const resetAt = startedAt + TTL;
      expect(await request()).toMatchObject({
        decision: { limit: 3, remaining: 2, resetAt, decidedAt: startedAt, rejection: undefined },
        ...{ totalHits: 1, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 },
      });
      clock.advance(30_001);
      await requestTimes(2);
      expect(await request()).toMatchObject({
        decision: { limit: 3, remaining: 0, resetAt, decidedAt: startedAt + 30_001, rejection: 'rate_limit_exceeded' },
        ...{ totalHits: 4, timeToExpire: 30, isBlocked: true, timeToBlockExpire: 30 },
      });
    });

    it('blocks for another duration from the first rejection on', async () => {
      const block = () => requestTimes(2, 'a', 90_000, 1);
      expect(await block()).toEqual([true, false]);
      clock.advance(45_000);
      expect(await block()).toEqual([false, false]);
      clock.advance(44_999);
      expect(await block()).toEqual([false, false]);
      clock.advance(1);
      expect(await block()).toEqual([true, false]);
    });

    it('takes back a request, also after a rejection, but not from a later window', async () => {
      const { undo } = await request();
      expect(await requestTimes(3)).toEqual([true, true, false]);
      await undo();
      expect(await requestTimes(2)).toEqual([true, false]);
      clock.advance(TTL);
      const late = await request();
      clock.advance(TTL);
      expect(await requestTimes(3)).toEqual([true, true, true]);
      await late.undo();
      expect(await requestTimes(1)).toEqual([false]);
    });
  });
}
