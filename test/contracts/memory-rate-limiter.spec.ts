import fc from 'fast-check';
import { createAdmittedDecision } from '../../src/rate-limiting/domain/windows';
import { MemoryRateLimiter } from '../../src/rate-limiting/memory/memory-rate-limiter';
import { createPrincipal } from '../support/principal';
import { TestClock } from '../support/test-clock';
import { describeRateLimiter, LIMITS } from './rate-limiter.contract';

describeRateLimiter('memory', (clock, settings) => new MemoryRateLimiter(clock, settings));

describe('The in-memory limiter', () => {
  const principal = (id: bigint) => createPrincipal(id, id, 1, 2);

  it('uses bounded memory for a hundred thousand distinct accounts, keys and IP addresses', () => {
    const limiter = new MemoryRateLimiter(new TestClock(), LIMITS, 1_000);
    for (let id = 0; id < 100_000; id++) {
      limiter.consume(principal(BigInt(id)));
      limiter.countAuthFailure(`${id}`);
    }
    expect(limiter.size).toBeLessThanOrEqual(3_000);
  });

  it('keeps the usage of an account in use, however many others send a request', () => {
    const limiter = new MemoryRateLimiter(new TestClock(), LIMITS, 2);
    const passed = Array.from({ length: 10 }, (_, index) => {
      limiter.consume(principal(BigInt(100 + index)));
      return limiter.consume(createPrincipal(1n, 1n, 3, 1_000)).rejection === undefined;
    });
    expect(passed.filter(Boolean)).toHaveLength(3);
  });

  it('removes expired entries', () => {
    const clock = new TestClock();
    const limiter = new MemoryRateLimiter(clock, LIMITS);
    for (let id = 0n; id < 10_000n; id++) {
      limiter.consume(principal(id));
      limiter.consume(principal(id));
      limiter.countAuthFailure(id.toString());
    }
    clock.advance(3 * 86_400_000);
    limiter.consume(principal(1n));
    limiter.consume(principal(1n));
    limiter.countAuthFailure('x');
    expect(limiter.size).toBe(3);
  });

  it('shows the window that ends last if a lower plan leaves none with requests', () => {
    const limiter = new MemoryRateLimiter(new TestClock(), LIMITS);
    for (let count = 0; count < 5; count++) {
      limiter.consume(createPrincipal(1n, 1n, 5, 10));
    }
    const { windows, readAt } = limiter.readUsage(createPrincipal(1n, 1n, 1, 3));
    expect(createAdmittedDecision(windows, readAt)).toMatchObject({ limit: 3, remaining: 0 });
  });

  it('admits at most the allowance, and rejects for at most a minute, when the clock is set back and forth', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -7_200_000, max: 7_200_000 }), { maxLength: 50 }), (moves) => {
        const clock = new TestClock();
        const limiter = new MemoryRateLimiter(clock, LIMITS);
        for (const move of moves) {
          clock.set(clock.now() + move);
          const decisions = Array.from({ length: 3 }, () => limiter.consume(createPrincipal(1n, 1n, 2, 1_000)));
          expect(decisions.filter(({ rejection }) => rejection === undefined).length).toBeLessThanOrEqual(2);
          for (const { rejection, resetAt } of decisions) {
            if (rejection === 'rate_limit_exceeded') {
              expect(resetAt - clock.now()).toBeLessThanOrEqual(60_000);
            }
          }
        }
      }),
    );
  });

  it('ends a ban and the minute of an IP address on time, even if the clock is set in the meantime', () => {
    const clock = new TestClock();
    const limiter = new MemoryRateLimiter(clock, LIMITS);
    const decideBoth = () => [
      Array.from({ length: 2 }, () => limiter.consume(createPrincipal(1n, 1n, 1, 1_000))).at(-1),
      Array.from({ length: 6 }, () => limiter.countAuthFailure('192.0.2.1')).at(-1),
    ];
    Array.from({ length: 2 }, () => limiter.consume(createPrincipal(1n, 1n, 1, 1_000)));
    clock.advance(1_001);
    const banned = { rejection: 'key_temporarily_banned', resetAt: clock.now() + 900_000 };
    expect(decideBoth()).toMatchObject([
      banned,
      { rejection: 'too_many_auth_failures', resetAt: clock.now() + 60_000 },
    ]);
    clock.set(clock.now() - 3_600_000);
    expect(decideBoth()).toMatchObject([{ resetAt: clock.now() + 900_000 }, { resetAt: clock.now() + 60_000 }]);
    clock.advance(60_000);
    expect(limiter.countAuthFailure('192.0.2.1').rejection).toBeUndefined();
    clock.set(clock.now() + 7_200_000);
    expect(limiter.consume(createPrincipal(1n, 1n, 1, 1_000)).rejection).toBe('key_temporarily_banned');
    clock.advance(840_000);
    expect(limiter.consume(createPrincipal(1n, 1n, 1, 1_000)).rejection).toBeUndefined();
  });
});
