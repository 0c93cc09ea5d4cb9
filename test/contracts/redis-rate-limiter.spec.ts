import { ConsoleLogger, Logger } from '@nestjs/common';
import fc from 'fast-check';
import { RedisRateLimiter } from '../../src/rate-limiting/redis/redis-rate-limiter';
import type { Allowance } from '../../src/shared/domain/allowance';
import { Clock } from '../../src/shared/domain/clock';
import type { Principal } from '../../src/shared/domain/principal';
import { createPrincipal } from '../support/principal';
import { FakeRedis, FakeRedisUsageStore, type Network } from './fake-redis-usage-store';
import { LIMITS } from './rate-limiter.contract';

const UNLIMITED = 1_000_000;
/** Bans must not interfere with what is counted here. */
const SETTINGS = { ...LIMITS, banWindowSeconds: 1, banDurationsSeconds: [1] };

/** The clock of a replica: time passes with the fake timers. */
class FakedClock extends Clock {
  constructor(private ahead: number) {
    super();
  }

  now(): number {
    return Math.floor(Date.UTC(2026, 10, 21, 23, 58) + performance.now()) + this.ahead;
  }

  monotonic(): number {
    return Math.floor(performance.now());
  }

  set(byMs: number): void {
    this.ahead += byMs;
  }
}

interface Admission {
  readonly replica: number;
  readonly account: bigint;
  readonly resetAt: number;
  readonly at: number;
  /** How often Redis's clock had been set by then: a window is guaranteed only until the clock is set. */
  readonly clockSetting: number;
}

/** Replicas that share a Redis, and everything that they admitted. */
class Replicas {
  readonly redis = new FakeRedis();
  readonly admissions: Admission[] = [];
  readonly clocks = [new FakedClock(0), new FakedClock(-7_200_000)];
  readonly connections = [0, 1].map((replica) => new FakeRedisUsageStore(this.redis, replica, SETTINGS));
  readonly limiters = this.connections.map(
    (counts, replica) => new RedisRateLimiter(counts, this.clocks[replica] ?? new FakedClock(0), SETTINGS),
  );
  slowestMs = 0;
  undecided = 0;
  private clockSetting = 0;

  static async start(): Promise<Replicas> {
    const replicas = new Replicas();
    const started = replicas.limiters.map((limiter) => limiter.onModuleInit());
    await jest.advanceTimersByTimeAsync(10);
    await Promise.all(started);
    return replicas;
  }

  connect(replica: number, network: Network): void {
    const connection = this.connections[replica];
    if (connection !== undefined) {
      connection.network = network;
    }
  }

  setRedisClock(byMs: number): void {
    this.clockSetting++;
    this.redis.setClock(byMs);
  }

  request(replica: number, account: bigint, { perMinute, perDay }: Allowance): void {
    this.undecided++;
    void this.decide(replica, createPrincipal(account, account, perMinute, perDay));
  }

  private async decide(replica: number, principal: Principal): Promise<void> {
    const askedAt = performance.now();
    const decision = await this.limiters[replica]?.countRequest(principal);
    this.undecided--;
    this.slowestMs = Math.max(this.slowestMs, performance.now() - askedAt);
    if (decision !== undefined && decision.rejection === undefined) {
      const { accountId: account } = principal;
      const { clockSetting } = this;
      this.admissions.push({ replica, account, resetAt: decision.resetAt, at: this.redis.now(), clockSetting });
    }
  }

  stop(): void {
    this.limiters.forEach((limiter) => {
      limiter.onApplicationShutdown();
    });
  }
}

const replica = fc.constantFrom(0, 1);
const network = fc.oneof(
  fc.record({ delayMs: fc.constantFrom(1, 12, 22, 30, 60, 500) }),
  fc.record({ delayMs: fc.constantFrom(1, 30, 60), breaks: fc.constantFrom('at once', 'before', 'after') }),
) as fc.Arbitrary<Network>;
/** Some time passes, across midnight eventually; then something may happen, and requests arrive. */
const step = fc.record({
  wait: fc.constantFrom(0, 0, 1, 5, 20, 40, 55, 120, 300, 1_000, 2_500, 61_000),
  fault: fc.option(fc.record({ replica, network }), { freq: 3 }),
  clock: fc.option(fc.record({ replica, byMs: fc.constantFrom(-3_600_000, 3_600_000) }), { freq: 10 }),
  redis: fc.option(fc.constantFrom('wiped' as const, -3_600_000, -200, 200, 3_600_000), { freq: 20 }),
  requests: fc.array(fc.record({ replica, account: fc.constantFrom(1n, 2n), times: fc.integer({ min: 1, max: 9 }) }), {
    maxLength: 3,
  }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const steps = fc.array(step, { minLength: 5, maxLength: 40 });
const few = fc.integer({ min: 1, max: 12 });

describe('Replicas whose Redis fails', () => {
  let replicas: Replicas;

  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  afterAll(() => {
    Logger.overrideLogger(new ConsoleLogger());
  });
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const play = async (story: readonly Step[], allowance: Allowance) => {
    replicas = await Replicas.start();
    for (const { wait, fault, clock, redis, requests } of story) {
      await jest.advanceTimersByTimeAsync(wait);
      if (fault !== null) {
        replicas.connect(fault.replica, fault.network);
      }
      if (clock !== null) {
        replicas.clocks[clock.replica]?.set(clock.byMs);
      }
      if (redis === 'wiped') {
        replicas.redis.wipe();
      } else if (redis !== null) {
        replicas.setRedisClock(redis);
      }
      requests.forEach(({ replica: asked, account, times }) => {
        for (let time = 0; time < times; time++) {
          replicas.request(asked, account, allowance);
        }
      });
    }
  };
  /** Ends all faults and lets 3 seconds pass. */
  const heal = async () => {
    [0, 1].forEach((each) => {
      replicas.connect(each, { delayMs: 1 });
    });
    await jest.advanceTimersByTimeAsync(3_000);
  };
  const playAll = (times: number, check: (story: Step[], allowance: Allowance) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(steps, few, fc.boolean(), async (story, limit, isDaily) => {
        try {
          // The other window is never the one in the headers.
          await check(
            story,
            isDaily ? { perMinute: UNLIMITED, perDay: limit } : { perMinute: limit, perDay: UNLIMITED },
          );
        } finally {
          replicas.stop();
          await jest.advanceTimersByTimeAsync(3_000);
        }
      }),
      { numRuns: times },
    );

  it('never admit more than the allowance in a window, each of them, and decide every request within 60 ms', async () => {
    await playAll(50, async (story, allowance) => {
      await play(story, allowance);
      await heal();
      const limit = Math.min(allowance.perMinute, allowance.perDay);
      const admitted = new Map<string, number>();
      for (const { replica: by, account, resetAt, clockSetting } of replicas.admissions) {
        const window = [by, account, resetAt, clockSetting].join(' ');
        admitted.set(window, (admitted.get(window) ?? 0) + 1);
      }
      expect(Math.max(0, ...admitted.values())).toBeLessThanOrEqual(limit);
      expect(replicas.undecided).toBe(0);
      expect(replicas.slowestMs).toBeLessThanOrEqual(60);
    });
  });

  it('are exact together 3 s after the fault, and no admitted request is forgotten', async () => {
    await playAll(50, async (story, allowance) => {
      await play(
        story.map((each) => ({ ...each, redis: null })),
        allowance,
      );
      await heal();
      const midnight = replicas.redis.midnight();
      for (const account of [1n, 2n]) {
        const today = replicas.admissions.filter((each) => each.account === account && each.at >= midnight);
        expect(replicas.redis.dayUsed(account)).toBeGreaterThanOrEqual(today.length);
      }
      const [before, limit] = [replicas.admissions.length, Math.min(allowance.perMinute, allowance.perDay)];
      for (let time = 0; time <= limit; time++) {
        replicas.request(time % 2, 3n, allowance);
        replicas.request((time + 1) % 2, 3n, allowance);
      }
      await jest.advanceTimersByTimeAsync(100);
      expect(replicas.admissions.length - before).toBe(limit);
      expect(replicas.limiters.map(({ events }) => events.isDegraded)).toEqual([false, false]);
    });
  });

  it('do not revoke what they admitted when a reply arrives late', async () => {
    replicas = await Replicas.start();
    const remaining = async () => {
      const decision = replicas.limiters[0]?.countRequest(createPrincipal(1n, 1n, 20, UNLIMITED));
      await jest.advanceTimersByTimeAsync(60);
      return (await decision)?.remaining;
    };
    expect(await remaining()).toBe(19);
    replicas.connect(0, { delayMs: 200 });
    expect(await remaining()).toBe(18);
    replicas.connect(0, { delayMs: 1, breaks: 'at once' });
    expect([await remaining(), await remaining(), await remaining()]).toEqual([17, 16, 15]);
    await jest.advanceTimersByTimeAsync(400);
    expect(await remaining()).toBe(14);
    await heal();
    expect(await remaining()).toBe(13);
    replicas.stop();
  });
});
