import { AuthFailureThrottle } from './auth-failure-throttle';

describe('Responses to client IP addresses that send wrong keys', () => {
  let throttle: AuthFailureThrottle;
  let continued: number[];

  beforeEach(() => {
    jest.useFakeTimers();
    [throttle, continued] = [new AuthFailureThrottle(), []];
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const arrive = (count: number) => {
    for (let index = 0; index < count; index++) {
      void throttle.wait()?.then(() => continued.push(index));
    }
  };

  it('wait 10 ms when they are few', async () => {
    arrive(2);
    await jest.advanceTimersByTimeAsync(9);
    expect(continued).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(continued).toEqual([0, 1]);
  });

  it('continue in order, 5 every 10 ms, when they are many', async () => {
    arrive(12);
    await jest.advanceTimersByTimeAsync(20);
    expect(continued).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await jest.advanceTimersByTimeAsync(10);
    expect(continued).toHaveLength(12);
  });

  it('are queued up to the number that can continue within a second; further ones do not wait', async () => {
    arrive(500);
    expect(throttle.wait()).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(continued).toHaveLength(500);
  });
});
