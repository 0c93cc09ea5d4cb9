import { Redis } from 'ioredis';
import { RedisCounts } from '../../src/rate-limiting/redis/redis-counts';
import { RedisRateLimiter } from '../../src/rate-limiting/redis/redis-rate-limiter';
import { describeRateLimiter, LIMITS } from '../contracts/rate-limiter.contract';
import { TestClock } from '../support/test-clock';
import { Server } from './support/servers';

let server: Server;
let admin: Redis;
let created: RedisRateLimiter[] = [];
let count = 0;

beforeAll(async () => {
  server = await Server.redis();
  admin = new Redis(server.url);
});
afterEach(() => {
  created.splice(0).forEach((limiter) => {
    limiter.onApplicationShutdown();
  });
});
afterAll(async () => {
  admin.disconnect();
  await server.remove();
});

const connected = async (clock: TestClock, settings = LIMITS, prefix = `story-${++count}:`) => {
  const counts = new RedisCounts([server.url], prefix, settings, () => clock.now());
  // A busy machine must not be taken for a slow Redis here.
  const limiter = new RedisRateLimiter(counts, clock, settings, 10_000);
  await limiter.onModuleInit();
  created.push(limiter);
  return limiter;
};

describeRateLimiter('Redis', connected, async (limiter) => {
  created = created.filter((other) => other !== limiter);
  (limiter as RedisRateLimiter).onApplicationShutdown();
  await admin.flushall();
});

describe('The limiter in Redis', () => {
  const principal = { accountId: 7n, keyId: 8n, allowance: { perMinute: 60, perDay: 1_000 } };

  it('counts for all replicas together', async () => {
    const clock = new TestClock();
    const replicas = [await connected(clock, LIMITS, 'shared:'), await connected(clock, LIMITS, 'shared:')];
    const decisions = await Promise.all(
      Array.from({ length: 200 }, (_, index) => Promise.resolve(replicas[index % 2]?.countRequest(principal))),
    );
    const passed = decisions.filter((decision) => decision?.refusal === undefined);
    expect(passed.map((decision) => decision?.remaining).sort((a = 0, b = 0) => b - a)).toEqual(
      Array.from({ length: 60 }, (_, n) => 59 - n),
    );
  });

  it('leaves no key without an expiry, and keeps those of one account in one slot of a cluster', async () => {
    const limiter = await connected(new TestClock(), LIMITS, 'keys:');
    for (let time = 0; time < 70; time++) {
      await limiter.countRequest(principal);
    }
    await limiter.countAuthFailure('2001:db8::1', 1);
    const keys = (await admin.keys('keys:*')).sort();
    expect(keys).toEqual(
      ['keys:probe', 'keys:{2001:db8:0:0::/64}:address', 'keys:{7}:key:8', 'keys:{7}:windows'].sort(),
    );
    for (const key of keys.filter((name) => name !== 'keys:probe')) {
      expect(await admin.pttl(key)).toBeGreaterThan(50_000);
    }
  });

  it('asks Redis nothing for the requests of a key known to be banned, nor of an address known to be over its limit', async () => {
    const clock = new TestClock();
    const limiter = await connected(clock);
    const small = { ...principal, allowance: { perMinute: 3, perDay: 10 } };
    const calls = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
    for (let time = 0; time < 10; time++) {
      await limiter.countRequest(small);
      await limiter.countAuthFailure('192.0.2.1', 1);
    }
    const before = await calls();
    for (let time = 0; time < 10_000; time++) {
      expect((await limiter.countRequest(small)).refusal).toBe('key_temporarily_banned');
      expect((await limiter.countAuthFailure('192.0.2.1', 1)).refusal).toBe('too_many_auth_failures');
    }
    expect(await calls()).toBe(before);
    clock.advance(1_001);
    await limiter.countRequest(small);
    expect(await calls()).toBe(before + 1);
  });
});
