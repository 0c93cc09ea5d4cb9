import { Redis } from 'ioredis';
import { RedisCounts } from '../../src/rate-limiting/redis/redis-counts';
import { RedisRateLimiter } from '../../src/rate-limiting/redis/redis-rate-limiter';
import { describeRateLimiter, LIMITS } from '../contracts/rate-limiter.contract';
import { freePort } from '../support/process';
import { principalOf } from '../support/principal';
import { TestClock } from '../support/test-clock';
import { eventually } from './support/replica';
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

const connected = async (
  clock: TestClock,
  settings = LIMITS,
  prefix = `story-${++count}:`,
  urls: readonly string[] = [server.url],
) => {
  const counts = new RedisCounts(urls, prefix, settings, () => clock.now());
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
  const principal = principalOf(7n, 8n, 60, 1_000);

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
      ['keys:{probe}:probe', 'keys:{2001:db8:0:0::/64}:address', 'keys:{7}:key:8', 'keys:{7}:windows'].sort(),
    );
    for (const key of keys.filter((name) => !name.endsWith(':probe'))) {
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

describe('The limiter in Redis Cluster', () => {
  let nodes: Server[];

  beforeAll(async () => {
    const busPorts = await Promise.all([freePort(), freePort(), freePort()]);
    nodes = await Promise.all(busPorts.map((port) => Server.redis('--cluster-enabled', 'yes', '--cluster-port', port)));
    const admins = nodes.map(({ url }) => new Redis(url));
    await Promise.all(
      admins.map((node, index) =>
        node.call(
          'cluster',
          'addslotsrange',
          Math.ceil((16_384 / 3) * index),
          Math.ceil((16_384 / 3) * (index + 1)) - 1,
        ),
      ),
    );
    for (const [index, { port }] of nodes.entries()) {
      await admins[0]?.call('cluster', 'meet', '127.0.0.1', port, busPorts[index] ?? '');
    }
    await eventually(20_000, async () => {
      const states = await Promise.all(admins.map((node) => node.cluster('INFO')));
      return states.every((state) => state.includes('cluster_state:ok'));
    });
    admins.forEach((node) => {
      node.disconnect();
    });
  });
  afterAll(() => Promise.all(nodes.map((node) => node.remove())));

  it('lets exactly the allowance of each account through, on whichever node it is', async () => {
    const clock = new TestClock();
    const urls = nodes.map(({ url }) => url);
    const replicas = [await connected(clock, LIMITS, '', urls), await connected(clock, LIMITS, '', urls)];
    const principals = Array.from({ length: 10 }, (_, index) => principalOf(BigInt(index), BigInt(index), 30, 100));
    const decisions = await Promise.all(
      principals.flatMap((principal) =>
        Array.from({ length: 50 }, async (_, index) => {
          const decision = await replicas[index % 2]?.countRequest(principal);
          return decision?.refusal === undefined ? principal.accountId : undefined;
        }),
      ),
    );
    for (const { accountId } of principals) {
      expect(decisions.filter((passed) => passed === accountId)).toHaveLength(30);
    }
    const sizes = await Promise.all(
      nodes.map(async ({ url }) => {
        const node = new Redis(url);
        return node.dbsize().finally(() => {
          node.disconnect();
        });
      }),
    );
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });
});
