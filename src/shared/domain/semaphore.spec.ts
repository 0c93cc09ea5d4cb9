import { Semaphore } from './semaphore';

describe('A semaphore', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Starts tasks, and finishes them one after another. @returns the owners in the order in which their tasks ran */
  const runAll = async (owners: readonly bigint[]) => {
    const semaphore = new Semaphore(1, 850);
    const started: bigint[] = [];
    const tasks = owners.map((owner) => semaphore.run(() => Promise.resolve(started.push(owner)), owner));
    await Promise.all(tasks);
    return started;
  };

  it('lets owners take turns, so that the tasks of one wait for few of another', async () => {
    expect(await runAll([1n, 1n, 1n, 1n, 2n, 2n, 3n])).toEqual([1n, 1n, 2n, 3n, 1n, 2n, 1n]);
  });

  it('rejects a task that has waited too long, and runs the later ones', async () => {
    const semaphore = new Semaphore(1, 850);
    let finish: () => void = () => undefined;
    const first = semaphore.run(() => new Promise<void>((resolve) => (finish = resolve)), 1n);
    const late = semaphore.run(() => Promise.resolve(), 1n);
    const outcome = expect(late).rejects.toThrow('unavailable');
    await jest.advanceTimersByTimeAsync(849);
    const next = semaphore.run(() => Promise.resolve('next'), 2n);
    await jest.advanceTimersByTimeAsync(1);
    await outcome;
    finish();
    await first;
    expect(await next).toBe('next');
    expect(await semaphore.run(() => Promise.resolve('last'), 1n)).toBe('last');
  });
});
