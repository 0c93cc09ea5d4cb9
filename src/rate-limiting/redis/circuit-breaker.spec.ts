import { CircuitBreaker } from './circuit-breaker';

describe('CircuitBreaker', () => {
  let now = 0;
  let breaker: CircuitBreaker;
  let probe: () => Promise<void> = () => Promise.resolve();
  let failures: string[];

  beforeEach(() => {
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    failures = [];
    breaker = new CircuitBreaker({
      replyTimeoutMs: 1,
      concernsFew: () => false,
      probe: () => probe(),
      reconnect: () => undefined,
      onOpen: () => undefined,
      onFailure: (reason) => failures.push(reason),
      onClose: () => undefined,
      onReply: () => undefined,
    });
  });
  afterEach(() => {
    breaker.stop();
    jest.restoreAllMocks();
  });

  /** Makes calls, one per second. @returns whether the breaker is open after each */
  const call = async (...replies: ('late' | 'in time')[]) => {
    const states: boolean[] = [];
    for (const reply of replies) {
      now += 1_000;
      await breaker.execute(() => (reply === 'late' ? new Promise(() => undefined) : Promise.resolve(reply)));
      states.push(breaker.isOpen);
    }
    return states;
  };

  it('opens after five late replies, however rare calls are', async () => {
    expect(await call('late', 'late', 'late', 'late', 'late')).toEqual([false, false, false, false, true]);
  });

  it('stays closed while a rare call is in time again and again', async () => {
    expect(await call('late', 'late', 'late', 'late', 'in time', 'late', 'late', 'late', 'late')).not.toContain(true);
  });

  it('repeats once a minute why it stays open', async () => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    probe = () => Promise.reject(new Error('NOAUTH'));
    breaker.open(new Error('the connection was closed'));
    for (const end = now + 90_000; now < end; now += 100) {
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(failures).toEqual(['NOAUTH', 'NOAUTH']);
    jest.useRealTimers();
  });
});
