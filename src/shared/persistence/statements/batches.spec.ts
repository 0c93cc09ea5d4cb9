import { setImmediate as nextTick } from 'node:timers/promises';
import { ServiceUnavailableError } from '../../domain/pet-store-error';
import { Batches } from './batches';
import { Semaphore } from './semaphore';

describe('Batches', () => {
  const MAX_CONCURRENT_BATCHES = 4;
  const writers = () => new Semaphore(5, 700);

  it('process items of one event-loop tick together, and return each its own result', async () => {
    const done: number[][] = [];
    const batches = new Batches((items: readonly number[]) => {
      done.push([...items]);
      return Promise.resolve(items.map((item) => item * 2));
    }, writers());
    expect(await Promise.all([1, 2, 3].map((item) => batches.add(item)))).toEqual([2, 4, 6]);
    expect(await batches.add(4)).toBe(8);
    expect(done).toEqual([[1, 2, 3], [4]]);
  });

  it('collect items while the maximum number of batches is running, and then process them together', async () => {
    const ends: (() => void)[] = [];
    const sizes: number[] = [];
    const batches = new Batches((items: readonly number[]) => {
      sizes.push(items.length);
      return new Promise<readonly number[]>((resolve) => {
        ends.push(() => {
          resolve(items);
        });
      });
    }, writers());
    const added: Promise<number>[] = [];
    for (let item = 0; item < MAX_CONCURRENT_BATCHES + 3; item++) {
      added.push(batches.add(item));
      await nextTick();
    }
    expect(sizes).toEqual([1, 1, 1, 1]);
    ends[0]?.();
    await added[0];
    // One tick releases the connection, the other starts the next batch.
    await nextTick();
    await nextTick();
    expect(sizes).toEqual([1, 1, 1, 1, 3]);
    ends.forEach((end) => {
      end();
    });
    expect(await Promise.all(added)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('fail only the item that PostgreSQL rejects', async () => {
    const rejected = Object.assign(new Error('2 is rejected'), { code: '23514' });
    const batches = new Batches(
      (items: readonly number[]) => (items.includes(2) ? Promise.reject(rejected) : Promise.resolve(items)),
      writers(),
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it.each([
    ['the database is unavailable', new ServiceUnavailableError()],
    ['the outcome is unknown', new Error('read ESOMETHING')],
  ])('never send items again when %s, so that nothing is created twice', async (_, failure) => {
    let sent = 0;
    const batches = new Batches(() => {
      sent++;
      return Promise.reject(failure);
    }, writers());
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(sent).toBe(1);
  });

  it('fail an item that waits for longer than 700 ms, and never send it later', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    try {
      const sent: number[] = [];
      const ends: (() => void)[] = [];
      const batches = new Batches((items: readonly number[]) => {
        sent.push(...items);
        return new Promise<readonly number[]>((resolve) => {
          ends.push(() => {
            resolve(items);
          });
        });
      }, writers());
      const begun: Promise<number>[] = [];
      for (let item = 0; item < MAX_CONCURRENT_BATCHES; item++) {
        begun.push(batches.add(item));
        await nextTick();
      }
      const late = batches.add(MAX_CONCURRENT_BATCHES);
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
});
