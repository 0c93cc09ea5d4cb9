import { setImmediate as nextTick } from 'node:timers/promises';
import { Batcher } from './batcher';
import { ServiceUnavailableError } from './pet-store-error';
import { Semaphore } from './semaphore';

describe('A Batcher', () => {
  const MAX_CONCURRENT_BATCHES = 4;
  const createOptions = (semaphore = new Semaphore(5, 700)) => ({
    isSplittable: (error: unknown) => error === rejected,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    semaphore,
  });
  const rejected = new Error('2 is rejected');

  it.each([
    ['the database is unavailable', new ServiceUnavailableError()],
    ['the outcome is unknown', new Error('read ESOMETHING')],
  ])('never sends items again when %s, so that nothing is created twice', async (_, failure) => {
    let sent = 0;
    const batcher = new Batcher(() => {
      sent++;
      return Promise.reject(failure);
    }, createOptions());
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(sent).toBe(1);
  });

  it('fails an item that waits for longer than 700 ms, and never sends it later', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    try {
      const sent: number[] = [];
      const ends: (() => void)[] = [];
      const batcher = new Batcher((items: readonly number[]) => {
        sent.push(...items);
        return new Promise<readonly number[]>((resolve) => {
          ends.push(() => {
            resolve(items);
          });
        });
      }, createOptions());
      const begun: Promise<number>[] = [];
      for (let item = 0; item < MAX_CONCURRENT_BATCHES; item++) {
        begun.push(batcher.add(item));
        await nextTick();
      }
      const late = batcher.add(MAX_CONCURRENT_BATCHES);
      const rejected = expect(late).rejects.toBeInstanceOf(ServiceUnavailableError);
      jest.advanceTimersByTime(701);
      await rejected;
      ends.forEach((end) => {
        end();
      });
      expect(await Promise.all(begun)).toEqual([0, 1, 2, 3]);
      await nextTick();
      expect(sent).toEqual([0, 1, 2, 3]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('sends nothing if all items expire while other work holds the connections', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    try {
      const semaphore = new Semaphore(1, 850);
      let finishOtherWork: () => void = () => undefined;
      const otherWork = semaphore.run(() => new Promise<void>((resolve) => (finishOtherWork = resolve)));
      let batches = 0;
      const batcher = new Batcher((items: readonly number[]) => {
        batches++;
        return Promise.resolve(items);
      }, createOptions(semaphore));
      const rejected = expect(batcher.add(1)).rejects.toBeInstanceOf(ServiceUnavailableError);
      await nextTick();
      jest.advanceTimersByTime(701);
      await rejected;
      finishOtherWork();
      await otherWork;
      await nextTick();
      expect(batches).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
