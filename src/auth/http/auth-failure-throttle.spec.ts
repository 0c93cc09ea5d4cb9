import { AuthFailureThrottle } from './auth-failure-throttle';

describe('Responses to client IP addresses that send wrong keys', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
  });

  it('continue in order, 5 every 10 ms; those that could not within a second do not wait', async () => {
    const throttle = new AuthFailureThrottle();
    const continued: number[] = [];
    const arrivals = Array.from({ length: 500 }, (_, index) => index);
    arrivals.forEach((index) => void throttle.wait()?.then(() => continued.push(index)));
    expect(throttle.wait()).toBeUndefined();
    await jest.advanceTimersByTimeAsync(9);
    expect(continued).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(continued).toEqual(arrivals.slice(0, 5));
    await jest.advanceTimersByTimeAsync(990);
    expect(continued).toEqual(arrivals);
  });
});
