import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import type { RateLimitSettings } from '../../src/rate-limiting/settings/rate-limit-settings';
import type { RateLimiter } from '../../src/rate-limiting/domain/rate-limiter';
import { type Allowance, WINDOWS } from '../../src/shared/domain/allowance';
import { createPrincipal } from '../support/principal';
import { TestClock } from '../support/test-clock';
import { ModelRateLimiter } from './rate-limiter.model';

export const LIMITS: RateLimitSettings = {
  authFailuresPerMinute: 5,
  banGraceSeconds: 1,
  banWindowSeconds: 600,
  banDurationsSeconds: [900, 3_600, 86_400],
  banMemorySeconds: 86_400,
};

/**
 * A step of a scenario: time passes, then requests arrive with one of two keys of one of two accounts, or authentications fail. The key
 * may have been unbanned, and `isStale` lists the requests that do not know it yet. A stubborn client goes on after the grace period.
 */
const step = fc.record({
  wait: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 30_000 }) },
    { weight: 4, arbitrary: fc.constantFrom(1_000, 1_001, 58_999, 59_999, 60_000) },
    { weight: 4, arbitrary: fc.constantFrom(598_999, 600_000, 898_999, 900_000, 3_600_000) },
    { weight: 1, arbitrary: fc.constantFrom(86_398_999, 86_400_000) },
  ),
  call: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        account: fc.constantFrom(1n, 2n),
        key: fc.constantFrom(1n, 2n),
        isStale: fc.oneof(
          { weight: 9, arbitrary: fc.constant(null) },
          { weight: 1, arbitrary: fc.array(fc.boolean(), { maxLength: 9 }) },
        ),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        address: fc.constantFrom('192.0.2.1', '2001:db8::1'),
        fails: fc.boolean(),
      }),
    },
  ),
  times: fc.integer({ min: 1, max: 9 }),
  isStubborn: fc.boolean(),
});

/** A limit for each window. */
const allowances = fc.record(
  Object.fromEntries(WINDOWS.map(({ limit }, index) => [limit, fc.integer({ min: 1, max: 6 * (index + 1) })])),
) as fc.Arbitrary<Allowance>;

/** Bans may be longer or shorter than the window of their rejections. */
const settings = fc
  .constantFrom(LIMITS.banDurationsSeconds, [30, 60])
  .map((banDurationsSeconds) => ({ ...LIMITS, banDurationsSeconds }));

/** Tests the guarantees of a rate limiter, which hold for every adapter. */
export function describeRateLimiter(
  name: string,
  create: (clock: TestClock, settings: RateLimitSettings) => RateLimiter | Promise<RateLimiter>,
  dispose: (limiter: RateLimiter) => Promise<void> | void = () => undefined,
): void {
  describe(`RateLimiter (${name})`, () => {
    it('makes the same decisions as the model in every scenario of calls and time', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 60, size: 'max' }),
          allowances,
          settings,
          async (steps, allowance, limits) => {
            const clock = new TestClock();
            const [limiter, model] = [await create(clock, limits), new ModelRateLimiter(clock, limits)];
            const unbans = new Map<bigint, number>();
            const bursts = steps.flatMap((each) => [each, ...(each.isStubborn ? [{ ...each, wait: 1_001 }] : [])]);
            for (const { wait, call, times } of bursts) {
              clock.advance(wait);
              const keyId = 'key' in call ? call.account * 10n + call.key : 0n;
              const before = unbans.get(keyId) ?? 0;
              const isStale = 'key' in call ? call.isStale : null;
              unbans.set(keyId, isStale === null ? before : before + 1);
              for (let time = 0; time < times; time++) {
                if ('address' in call) {
                  const decide = (subject: RateLimiter) =>
                    call.fails ? subject.countAuthFailure(call.address) : subject.readAuthFailures(call.address);
                  deepStrictEqual(await decide(limiter), await decide(model));
                  continue;
                }
                const unbanCount = isStale?.[time] === true ? before : (unbans.get(keyId) ?? 0);
                const principal = { ...createPrincipal(call.account, keyId, 1, 1, unbanCount), allowance };
                deepStrictEqual(await limiter.readUsage(principal), model.readUsage(principal));
                deepStrictEqual(await limiter.consume(principal), model.consume(principal));
              }
            }
            await dispose(limiter);
          },
        ),
        { numRuns: 60 },
      );
    });

    it('admits exactly the allowance, however many requests arrive at once, and bans no key for that', async () => {
      const limiter = await create(new TestClock(), LIMITS);
      const principal = createPrincipal(1n, 1n, 60, 1_000);
      const decisions = await Promise.all(Array.from({ length: 200 }, async () => limiter.consume(principal)));
      const passed = decisions.filter(({ rejection }) => rejection === undefined);
      expect(passed.map(({ remaining }) => remaining).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 60 }, (_, n) => n),
      );
      expect(decisions.filter(({ rejection }) => rejection === 'rate_limit_exceeded')).toHaveLength(140);
      expect((await limiter.readUsage(principal)).bannedUntil).toBeUndefined();
    });

    it('reports a ban once, when it is imposed', async () => {
      const clock = new TestClock();
      const limiter = await create(clock, LIMITS);
      const bans: unknown[] = [];
      limiter.monitor.onBan(({ keyId }, bannedUntil) => bans.push([keyId, bannedUntil]));
      const decisions = [];
      for (let request = 0; request < 7; request++) {
        decisions.push(await limiter.consume(createPrincipal(1n, 2n, 1, 1_000)));
        clock.advance(request === 1 ? 1_001 : 0);
      }
      const banned = decisions.filter(({ rejection }) => rejection === 'key_temporarily_banned');
      expect(banned).toHaveLength(4);
      expect(bans).toEqual([[2n, banned[0]?.resetAt]]);
      expect(limiter.monitor.bansImposed).toBe(1);
    });

    it('reflects a change of plan in the next decision, and keeps the usage', async () => {
      const limiter = await create(new TestClock(), LIMITS);
      const withAllowance = (perMinute: number) => createPrincipal(1n, 1n, perMinute, 1_000);
      await limiter.consume(withAllowance(2));
      expect(await limiter.consume(withAllowance(10))).toMatchObject({ limit: 10, remaining: 8 });
      expect(await limiter.consume(withAllowance(1))).toMatchObject({
        remaining: 0,
        rejection: 'rate_limit_exceeded',
      });
    });
  });
}
