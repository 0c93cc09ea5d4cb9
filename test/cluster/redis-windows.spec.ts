import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { RedisRateLimiter } from '../../src/rate-limiting/redis/redis-rate-limiter';
import { describeRateLimiter, LIMITS } from '../contracts/rate-limiter.contract';
import { createPrincipal } from '../support/principal';
import { TestClock } from '../support/test-clock';
import { createRedisLimiter } from './support/redis-limiter';
import { Server } from './support/servers';

jest.mock('../../src/shared/domain/allowance', () => jest.requireActual<object>('../support/four-windows'));

Logger.overrideLogger(false);

let server: Server;
let admin: Redis;
let count = 0;

beforeAll(async () => {
  server = await Server.startRedis();
  admin = server.openRedis();
});

const createLimiter = (clock: TestClock, settings = LIMITS, prefix = `test-${++count}:`) =>
  createRedisLimiter(clock, settings, prefix, [server.url]);

describeRateLimiter('Redis, with an hour and a week', createLimiter, async (limiter) => {
  (limiter as RedisRateLimiter).onApplicationShutdown();
  await admin.flushall();
});

describe('An added window in Redis', () => {
  const principal = createPrincipal(1n, 1n, 10, 1_000);
  const limited = { ...principal, allowance: { ...principal.allowance, perHour: 5 } };
  const countAdmitted = async (limiters: readonly RedisRateLimiter[], requests: number) => {
    const decisions = await Promise.all(
      Array.from({ length: requests }, async (_, index) => limiters[index % limiters.length]?.consume(limited)),
    );
    return decisions.filter((decision) => decision?.rejection === undefined).length;
  };

  it('is shared by the replicas, and opens for accounts whose minute and day are already counted', async () => {
    const clock = new TestClock();
    const limiters = [await createLimiter(clock, LIMITS, 'shared:'), await createLimiter(clock, LIMITS, 'shared:')];
    // What a replica without the window has stored.
    const dayEndsAt = clock.now() - (clock.now() % 86_400_000) + 86_400_000;
    await admin.hset('shared:{1}:windows', {
      minuteEndsAt: clock.now() + 30_000,
      minuteUsed: 4,
      dayEndsAt,
      dayUsed: 7,
    });
    expect(await countAdmitted(limiters, 20)).toBe(5);
    expect(await admin.hmget('shared:{1}:windows', 'minuteUsed', 'hourUsed', 'dayUsed', 'weekUsed')).toEqual([
      ...['9', '5', '12', '5'],
    ]);
    expect(await admin.pttl('shared:{1}:windows')).toBeGreaterThan(3_500_000);
    clock.advance(3_599_999);
    expect(await countAdmitted(limiters, 2)).toBe(0);
    clock.advance(1);
    expect(await countAdmitted(limiters, 20)).toBe(5);
  });
});
