import { CircuitBreaker } from './circuit-breaker';

describe('CircuitBreaker', () => {
  let now = 0;
  let breaker: CircuitBreaker;

  beforeEach(() => {
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    breaker = new CircuitBreaker({
      replyTimeoutMs: 1,
      concernsFew: () => false,
      probe: () => Promise.resolve(),
      reconnect: () => undefined,
      onOpen: () => undefined,
      onFailure: () => undefined,
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
});
