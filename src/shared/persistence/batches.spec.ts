import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceUnavailable } from '../domain/pet-store-error';
import { Batches } from './batches';

describe('Batches', () => {
  const MAX_UNDER_WAY = 4;

  it('do together what is asked for in one turn, and give everybody the own result', async () => {
    const done: number[][] = [];
    const batches = new Batches((items: readonly number[]) => {
      done.push([...items]);
      return Promise.resolve(items.map((item) => item * 2));
    });
    expect(await Promise.all([1, 2, 3].map((item) => batches.add(item)))).toEqual([2, 4, 6]);
    expect(await batches.add(4)).toBe(8);
    expect(done).toEqual([[1, 2, 3], [4]]);
  });

  it('gather what comes while enough is under way, and then do it together', async () => {
    const ends: (() => void)[] = [];
    const sizes: number[] = [];
    const batches = new Batches((items: readonly number[]) => {
      sizes.push(items.length);
      return new Promise<readonly number[]>((resolve) => {
        ends.push(() => {
          resolve(items);
        });
      });
    });
    const added: Promise<number>[] = [];
    for (let item = 0; item < MAX_UNDER_WAY + 3; item++) {
      added.push(batches.add(item));
      await nextTurn();
    }
    expect(sizes).toEqual([1, 1, 1, 1]);
    ends[0]?.();
    await added[0];
    await nextTurn();
    expect(sizes).toEqual([1, 1, 1, 1, 3]);
    ends.forEach((end) => {
      end();
    });
    expect(await Promise.all(added)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('let an item that is refused fail alone', async () => {
    const batches = new Batches((items: readonly number[]) =>
      items.includes(2) ? Promise.reject(new Error('2 is refused')) : Promise.resolve(items),
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('ask once only when the database is away', async () => {
    let asked = 0;
    const batches = new Batches(() => {
      asked++;
      return Promise.reject(new ServiceUnavailable());
    });
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(asked).toBe(1);
  });
});
