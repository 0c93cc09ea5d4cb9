import { Semaphore } from './semaphore';

describe('A semaphore', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
  });

  it('rejects a task that has waited too long, and runs the later ones', async () => {
    const semaphore = new Semaphore(1, 850);
    let finish: () => void = () => undefined;
    const first = semaphore.run(() => new Promise<void>((resolve) => (finish = resolve)), 1n);
    const late = semaphore.run(() => Promise.resolve(), 1n);
    const outcome = expect(late).rejects.toThrow('unavailable');
    await jest.advanceTimersByTimeAsync(849);
    const next = semaphore.run(() => Promise.resolve('next'), 2n);
    expect(semaphore.waitingCount).toBe(2);
    await jest.advanceTimersByTimeAsync(1);
    await outcome;
    expect(semaphore.waitingCount).toBe(1);
    finish();
    await first;
    expect(await next).toBe('next');
    expect(await semaphore.run(() => Promise.resolve('last'), 1n)).toBe('last');
  });
});
