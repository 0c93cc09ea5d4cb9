import { ConsoleLogger, Logger } from '@nestjs/common';
import fc from 'fast-check';
import type { AccountLimits } from '../../src/auth/domain/account';
import { RedisRateLimiter } from '../../src/rate-limiting/redis/redis-rate-limiter';
import { DAY_MS, MINUTE_MS } from '../../src/shared/domain/allowance';
import { Clock } from '../../src/shared/domain/clock';
import type { Principal } from '../../src/shared/domain/principal';
import { createPrincipal } from '../support/principal';
import { FakeRedis, FakeRedisUsageStore, type Network } from './fake-redis-usage-store';
import { LIMITS } from './rate-limiter.contract';

const UNLIMITED = 1_000_000;
/** Bans must not affect the counts. */
const SETTINGS = { ...LIMITS, banWindowSeconds: 1, banDurationsSeconds: [1] };

/** The clock of a replica, which follows the fake timers. */
class FakeTimersClock extends Clock {
  constructor(private ahead: number) {
    super();
  }

  now(): number {
    return Math.floor(Date.UTC(2026, 10, 21, 23, 58) + performance.now()) + this.ahead;
  }

  monotonic(): number {
    return Math.floor(performance.now());
  }

  shift(byMs: number): void {
    this.ahead += byMs;
  }
}

interface Decision {
  readonly replica: number;
  readonly account: bigint;
  readonly isAdmitted: boolean;
  readonly resetAt: number;
  /** By the clock of Redis. */
  readonly at: number;
  /** How many times the clock of Redis had been set before. Setting it may start another window. */
  readonly redisClockChanges: number;
}

/** Replicas that share a Redis, with their decisions. */
class Replicas {
  readonly redis = new FakeRedis();
  readonly decisions: Decision[] = [];
  readonly clocks = [new FakeTimersClock(0), new FakeTimersClock(-7_200_000)];
  readonly connections = [0, 1].map(() => new FakeRedisUsageStore(this.redis, SETTINGS));
  readonly limiters = this.connections.map(
    (usageStore, replica) => new RedisRateLimiter(usageStore, this.clocks[replica] ?? new FakeTimersClock(0), SETTINGS),
  );
  slowestMs = 0;
  undecided = 0;
  private redisClockChanges = 0;

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

  shiftRedisClock(byMs: number): void {
    this.redisClockChanges++;
    this.redis.shiftClock(byMs);
  }

  /** Sends requests with one key, which a replica counts together. */
  request(replica: number, account: bigint, { perMinute, perDay }: AccountLimits, times = 1): void {
    const principal = createPrincipal(account, account, perMinute, perDay);
    for (let time = 0; time < times; time++) {
      this.undecided++;
      void this.decide(replica, principal);
    }
  }

  /** Sends requests of one account, and waits for the decisions. @returns how many requests were admitted */
  async admit(replica: number, allowance: AccountLimits, times = 1): Promise<number> {
    const before = this.admissions.length;
    this.request(replica, 1n, allowance, times);
    await jest.advanceTimersByTimeAsync(60);
    return this.admissions.length - before;
  }

  private async decide(replica: number, principal: Principal): Promise<void> {
    const startedAt = performance.now();
    const decision = await this.limiters[replica]?.consume(principal);
    this.undecided--;
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
    if (decision !== undefined) {
      const { accountId: account } = principal;
      const { redisClockChanges } = this;
      const [isAdmitted, at] = [decision.rejection === undefined, this.redis.now()];
      this.decisions.push({ replica, account, isAdmitted, resetAt: decision.resetAt, at, redisClockChanges });
    }
  }

  get admissions(): Decision[] {
    return this.decisions.filter(({ isAdmitted }) => isAdmitted);
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
  fc.record({ delayMs: fc.constantFrom(1, 30, 60), breaks: fc.constantFrom('immediately', 'before', 'after') }),
) as fc.Arbitrary<Network>;
/** A step of a scenario: time passes, possibly across midnight; then a fault may occur, and requests arrive. */
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
const steps = fc.array(step, { minLength: 5, maxLength: 40, size: 'max' });
const few = fc.integer({ min: 1, max: 12 });

describe('Replicas while Redis fails', () => {
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

  const runScenario = async (scenario: readonly Step[], allowance: AccountLimits) => {
    replicas = await Replicas.start();
    for (const { wait, fault, clock, redis, requests } of scenario) {
      await jest.advanceTimersByTimeAsync(wait);
      if (fault !== null) {
        replicas.connect(fault.replica, fault.network);
      }
      if (clock !== null) {
        replicas.clocks[clock.replica]?.shift(clock.byMs);
      }
      if (redis === 'wiped') {
        replicas.redis.loseData();
      } else if (redis !== null) {
        replicas.shiftRedisClock(redis);
      }
      requests.forEach(({ replica: asked, account, times }) => {
        replicas.request(asked, account, allowance, times);
      });
    }
  };
  /** Ends all faults and lets 3 seconds pass. */
  const endFaults = async () => {
    [0, 1].forEach((each) => {
      replicas.connect(each, { delayMs: 1 });
    });
    await jest.advanceTimersByTimeAsync(3_000);
  };
  const checkScenarios = (times: number, check: (scenario: Step[], allowance: AccountLimits) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(steps, few, fc.boolean(), async (scenario, limit, isDaily) => {
        try {
          // Only one window is limited, so that the reset time identifies it.
          await check(
            scenario,
            isDaily ? { perMinute: UNLIMITED, perDay: limit } : { perMinute: limit, perDay: UNLIMITED },
          );
        } finally {
          replicas.stop();
          await jest.advanceTimersByTimeAsync(3_000);
        }
      }),
      { numRuns: times },
    );

  it('each admit at most the allowance in a window, and decide every request within 60 ms', async () => {
    await checkScenarios(50, async (scenario, allowance) => {
      await runScenario(scenario, allowance);
      await endFaults();
      const limit = Math.min(allowance.perMinute, allowance.perDay);
      const admitted = new Map<string, number>();
      for (const { replica: by, account, resetAt, redisClockChanges } of replicas.admissions) {
        const window = [by, account, resetAt, redisClockChanges].join(' ');
        admitted.set(window, (admitted.get(window) ?? 0) + 1);
      }
      expect(Math.max(0, ...admitted.values())).toBeLessThanOrEqual(limit);
      expect(replicas.undecided).toBe(0);
      expect(replicas.slowestMs).toBeLessThanOrEqual(60);
    });
  });

  it('never charge for a request that was not admitted, nor twice for one that was, even if Redis loses its data', async () => {
    await checkScenarios(50, async (scenario, allowance) => {
      const lengthMs = allowance.perDay === UNLIMITED ? MINUTE_MS : DAY_MS;
      await runScenario(
        scenario.map((each) => ({ ...each, redis: each.redis === 'wiped' ? each.redis : null })),
        allowance,
      );
      await endFaults();
      const { admissions, decisions } = replicas;
      for (const account of [1n, 2n]) {
        const mine = admissions.filter((each) => each.account === account);
        const today = mine.filter(({ at }) => at >= replicas.redis.getMidnight());
        expect(replicas.redis.getDayUsed(account)).toBeLessThanOrEqual(today.length);
        // What Redis admits after it has lost its data, but a replica rejects, counts until it is taken back.
        const undone = replicas.redis.undone.filter((each) => each.account === account);
        const leeway = undone.reduce((sum, { requests }) => sum + requests, 0);
        const rejections = decisions.filter((each) => each.account === account && !each.isAdmitted);
        for (const { replica, resetAt, at } of rejections) {
          // A request that Redis counted may have been decided up to 60 ms later, or up to 0.5 s earlier if its call was delayed.
          const countSince = (start: number, among: readonly Decision[]) =>
            among.filter((each) => each.at >= start - 500 && each.at <= at + 60).length;
          // After a loss, the window of a replica may have begun before that of Redis.
          const byReplica = mine.filter((each) => each.replica === replica);
          const counted = Math.max(countSince(resetAt - lengthMs, mine) + leeway, countSince(at - lengthMs, byReplica));
          expect(counted).toBeGreaterThanOrEqual(Math.min(allowance.perMinute, allowance.perDay));
        }
      }
    });
  });

  it('together admit exactly the allowance 3 s after the fault', async () => {
    await checkScenarios(50, async (scenario, allowance) => {
      await runScenario(
        scenario.map((each) => ({ ...each, redis: each.redis === 'wiped' ? each.redis : null })),
        allowance,
      );
      await endFaults();
      const [before, limit] = [replicas.admissions.length, Math.min(allowance.perMinute, allowance.perDay)];
      for (let time = 0; time <= limit; time++) {
        replicas.request(time % 2, 3n, allowance);
        replicas.request((time + 1) % 2, 3n, allowance);
      }
      await jest.advanceTimersByTimeAsync(100);
      expect(replicas.admissions.length - before).toBe(limit);
      expect(replicas.limiters.map(({ monitor }) => monitor.isDegraded)).toEqual([false, false]);
    });
  });

  it('report how long they waited for Redis, including waits that timed out', async () => {
    replicas = await Replicas.start();
    const waits: number[] = [];
    replicas.limiters[0]?.monitor.onReply((ms) => waits.push(ms));
    for (const delayMs of [10, 100]) {
      replicas.connect(0, { delayMs });
      void replicas.limiters[0]?.consume(createPrincipal(1n, 1n, 20, UNLIMITED));
      await jest.advanceTimersByTimeAsync(300);
    }
    // A reply takes the delay in each direction; a wait ends after 50 ms.
    expect(waits).toEqual([20, 50]);
    await endFaults();
  });

  it('admit at most the allowance after the reply to a probe arrives late', async () => {
    replicas = await Replicas.start();
    const consume = async (account: bigint) => {
      const decision = replicas.limiters[0]?.consume(createPrincipal(account, account, 1, UNLIMITED));
      await jest.advanceTimersByTimeAsync(60);
      return (await decision)?.rejection;
    };
    replicas.connect(0, { delayMs: 300 });
    for (let account = 1n; replicas.limiters[0]?.monitor.isDegraded === false; account++) {
      await consume(account);
    }
    // The first probe begins after 200 ms, and its reply is 300 ms old when it arrives after another 600 ms.
    await jest.advanceTimersByTimeAsync(640);
    expect(await consume(100n)).toBeUndefined();
    await jest.advanceTimersByTimeAsync(110);
    expect(await consume(100n)).toBe('rate_limit_exceeded');
    await endFaults();
  });

  it('count a request once when Redis counts it and its response arrives late', async () => {
    replicas = await Replicas.start();
    const consume = async () => {
      const decision = replicas.limiters[0]?.consume(createPrincipal(1n, 1n, 20, UNLIMITED));
      await jest.advanceTimersByTimeAsync(60);
      return (await decision)?.remaining;
    };
    expect(await consume()).toBe(19);
    replicas.connect(0, { delayMs: 1, replyDelayMs: 200 });
    expect(await consume()).toBe(18);
    await jest.advanceTimersByTimeAsync(400);
    expect(replicas.redis.getDayUsed(1n)).toBe(2);
    replicas.connect(0, { delayMs: 1 });
    expect(await consume()).toBe(17);
  });

  it('tell a Redis that has lost its data what it must reject, and when the window ends', async () => {
    replicas = await Replicas.start();
    const request = (asked: number, times: number) => replicas.admit(asked, { perMinute: 5, perDay: UNLIMITED }, times);
    expect(await request(0, 5)).toBe(5);
    await jest.advanceTimersByTimeAsync(20_000);
    replicas.redis.loseData();
    expect(await request(0, 3)).toBe(0);
    expect(replicas.redis.undone).toEqual([]);
    await jest.advanceTimersByTimeAsync(40_000);
    expect(await request(0, 3)).toBe(3);
    await jest.advanceTimersByTimeAsync(20_000);
    replicas.redis.loseData();
    expect([await request(0, 1), await request(1, 1)]).toEqual([1, 1]);
    expect(new Set(replicas.decisions.slice(8).map(({ resetAt }) => resetAt)).size).toBe(1);
  });

  it('do not charge in Redis for what they have decided since', async () => {
    replicas = await Replicas.start();
    const allowance = { perMinute: UNLIMITED, perDay: 20 };
    const request = () => replicas.admit(0, allowance);
    await request();
    replicas.connect(0, { delayMs: 200 });
    await request();
    await jest.advanceTimersByTimeAsync(400);
    expect(replicas.redis.getDayUsed(1n)).toBe(1);
    // The clock of Redis may have changed meanwhile.
    replicas.connect(0, { delayMs: 1 });
    await jest.advanceTimersByTimeAsync(3_000);
    replicas.redis.shiftClock(10_000);
    await request();
    expect(replicas.redis.getDayUsed(1n)).toBe(2);
    expect(replicas.decisions.every(({ isAdmitted }) => isAdmitted)).toBe(true);
    // Both show the same: what this replica knows.
    const usage = await Promise.all([
      replicas.limiters[0]?.readUsage(createPrincipal(1n, 1n, UNLIMITED, 20)),
      jest.advanceTimersByTimeAsync(60),
    ]);
    expect(usage[0]?.windows.day.used).toBe(3);
    await endFaults();
  });

  it('charge nothing for what they reject if Redis loses its data while several calls are in flight', async () => {
    replicas = await Replicas.start();
    const allowance = { perMinute: UNLIMITED, perDay: 60 };
    const request = (times: number) => {
      replicas.request(0, 1n, allowance, times);
      return jest.advanceTimersByTimeAsync(1);
    };
    await replicas.admit(0, allowance, 55);
    replicas.connect(0, { delayMs: 10 });
    await request(3);
    replicas.redis.loseData();
    await request(10);
    await request(10);
    await endFaults();
    expect(replicas.admissions).toHaveLength(60);
    expect(replicas.redis.getDayUsed(1n)).toBe(5);
  });

  it('take back what Redis has counted for a request that they have rejected because the reply was late', async () => {
    replicas = await Replicas.start();
    const request = (asked: number, times: number) =>
      replicas.admit(asked, { perMinute: UNLIMITED, perDay: 10 }, times);
    await request(1, 2);
    await request(0, 1);
    replicas.connect(0, { delayMs: 1, breaks: 'immediately' });
    await request(0, 7);
    await endFaults();
    expect([replicas.admissions.length, replicas.redis.getDayUsed(1n)]).toEqual([10, 3]);
    // Redis executes the call in time, but the reply takes longer.
    replicas.connect(0, { delayMs: 1, replyDelayMs: 80 });
    await request(0, 2);
    await jest.advanceTimersByTimeAsync(100);
    expect([replicas.admissions.length, replicas.redis.getDayUsed(1n)]).toEqual([10, 3]);
  });

  it('admit at most the allowance of a window whose last replies arrive after its end', async () => {
    replicas = await Replicas.start();
    const request = (times: number) => {
      replicas.request(0, 1n, { perMinute: 21, perDay: UNLIMITED }, times);
    };
    request(1);
    await jest.advanceTimersByTimeAsync(10);
    const endsAt = replicas.admissions[0]?.resetAt ?? NaN;
    await jest.advanceTimersByTimeAsync(endsAt - 86 - replicas.redis.now());
    // This call is late: the replica decides after 50 ms.
    replicas.connect(0, { delayMs: 56, replyDelayMs: 1 });
    request(20);
    await jest.advanceTimersByTimeAsync(40);
    // Redis executes this one 30 ms before the end, and its reply arrives 2 ms after the end.
    replicas.connect(0, { delayMs: 1, replyDelayMs: 32 });
    request(20);
    await jest.advanceTimersByTimeAsync(100);
    expect(replicas.admissions.filter(({ resetAt }) => resetAt === endsAt)).toHaveLength(21);
    await endFaults();
  });

  it('admit at most the allowance after an outage in which another has opened the window earlier', async () => {
    replicas = await Replicas.start();
    const request = (asked: number, times: number) => replicas.admit(asked, { perMinute: 5, perDay: UNLIMITED }, times);
    expect(await request(1, 1)).toBe(1);
    await jest.advanceTimersByTimeAsync(20_000);
    replicas.connect(0, { delayMs: 1, breaks: 'immediately' });
    expect(await request(0, 3)).toBe(3);
    await endFaults();
    expect([await request(0, 5), await request(1, 5)]).toEqual([2, 2]);
  });

  it('open the next window exactly after an outage in which each has opened one of its own', async () => {
    replicas = await Replicas.start();
    const request = (asked: number, times: number) =>
      replicas.admit(asked, { perMinute: 60, perDay: UNLIMITED }, times);
    [0, 1].forEach((each) => {
      replicas.connect(each, { delayMs: 1, breaks: 'immediately' });
    });
    expect(await request(0, 1)).toBe(1);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(await request(1, 1)).toBe(1);
    await endFaults();
    await jest.advanceTimersByTimeAsync(40_000);
    expect([await request(0, 50), await request(1, 1), await request(0, 20)]).toEqual([50, 1, 9]);
    expect(new Set(replicas.decisions.slice(2).map(({ resetAt }) => resetAt)).size).toBe(1);
    // The window that the second replica has opened would be over.
    await jest.advanceTimersByTimeAsync(20_000);
    expect([await request(0, 1), await request(1, 1)]).toEqual([0, 0]);
    await jest.advanceTimersByTimeAsync(40_000);
    expect([await request(0, 59), await request(1, 9)]).toEqual([59, 1]);
  });

  it('show no requests left in a rejection whose window ends before the reply arrives', async () => {
    replicas = await Replicas.start();
    const principal = createPrincipal(1n, 1n, 2, UNLIMITED);
    const consume = async (waitMs: number) => {
      const decision = replicas.limiters[0]?.consume(principal);
      await jest.advanceTimersByTimeAsync(waitMs);
      return decision;
    };
    await consume(30);
    await consume(59_950);
    replicas.redis.loseData();
    replicas.connect(0, { delayMs: 15 });
    const decision = await consume(60);
    expect([decision?.rejection, decision?.remaining]).toEqual(['rate_limit_exceeded', 0]);
  });

  it('continue from the known usage and what they admit since, which is not counted again in Redis', async () => {
    replicas = await Replicas.start();
    const request = (asked: number, times: number) =>
      replicas.admit(asked, { perMinute: UNLIMITED, perDay: 20 }, times);
    expect([await request(1, 4), await request(0, 5)]).toEqual([4, 5]);
    replicas.connect(0, { delayMs: 1, breaks: 'immediately' });
    expect([await request(0, 2), await request(0, 10)]).toEqual([2, 9]);
    await endFaults();
    // A replica never admits more than the allowance itself; others may admit what Redis has not counted.
    expect([await request(0, 10), await request(1, 1)]).toEqual([4, 1]);
  });

  it('ask a node itself whether it is available again, after the slot of its first account has moved to another node', async () => {
    replicas = await Replicas.start();
    const tagsOfNode = new Set(['1', '2']);
    const probed = new Set<string>();
    Object.assign(replicas.connections[0] ?? {}, {
      findNode: (tag: string) => (tagsOfNode.has(tag) ? 'first' : 'second'),
      probe: (tag: string) => {
        probed.add(tag);
        return Promise.reject(new Error('the connection was closed'));
      },
    });
    const request = async (account: bigint) => {
      replicas.request(0, account, { perMinute: 5, perDay: UNLIMITED });
      await jest.advanceTimersByTimeAsync(1_000);
    };
    await request(1n);
    tagsOfNode.delete('1');
    replicas.connect(0, { delayMs: 1, breaks: 'immediately' });
    await request(2n);
    expect([...probed]).toEqual(['2']);
  });
});
