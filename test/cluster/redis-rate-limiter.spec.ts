import { createServer } from 'node:net';
import { Logger } from '@nestjs/common';
import calculateSlot from 'cluster-key-slot';
import type { Redis } from 'ioredis';
import type { Principal } from '../../src/shared/domain/principal';
import { createRedisClient } from '../../src/rate-limiting/redis/redis-client';
import { RedisUsageStore } from '../../src/rate-limiting/redis/redis-usage-store';
import type { RedisRateLimiter } from '../../src/rate-limiting/redis/redis-rate-limiter';
import { RedisThrottleStorage } from '../../src/rate-limiting/redis/redis-throttle-storage';
import { describeRateLimiter, LIMITS } from '../contracts/rate-limiter.contract';
import { describeThrottleStorage } from '../contracts/throttle-storage.contract';
import { findFreePort, listen } from '../support/process';
import { createPrincipal } from '../support/principal';
import { TestClock } from '../support/test-clock';
import { Proxy } from './support/proxy';
import { startRedisCluster } from './support/redis-cluster';
import { createRedisLimiter, startRedisLimiter } from './support/redis-limiter';
import { eventually } from './support/replica';
import { Server } from './support/servers';

let server: Server;
let admin: Redis;
let count = 0;

beforeAll(async () => {
  server = await Server.startRedis();
  admin = server.openRedis();
});

// The tests cause faults, which would be logged.
Logger.overrideLogger(false);

const createLimiter = (
  clock: TestClock,
  settings = LIMITS,
  prefix = `test-${++count}:`,
  urls: readonly string[] = [server.url],
  replyTimeoutMs?: number,
) => createRedisLimiter(clock, settings, prefix, urls, replyTimeoutMs);

describeRateLimiter('Redis', createLimiter, async (limiter) => {
  (limiter as RedisRateLimiter).onApplicationShutdown();
  await admin.flushall();
});

it('A ban in Redis never lasts longer than it should, although the clock of Redis is set back', async () => {
  const clock = new TestClock();
  const replicas = [await createLimiter(clock, LIMITS, 'ban:'), await createLimiter(clock, LIMITS, 'ban:')];
  const principal = createPrincipal(1n, 1n, 1, 1_000);
  const request = async () =>
    Promise.all(replicas.map(async (replica) => (await replica.consume(principal)).rejection));
  await request();
  clock.advance(1_001);
  await request();
  expect(await request()).toEqual(Array(2).fill('key_temporarily_banned'));
  clock.set(clock.now() - 18_000_000);
  // Until the replicas ask Redis again.
  clock.advance(1_001);
  expect(await request()).not.toContain('key_temporarily_banned');
  clock.advance(3_600_000);
  expect(await request()).toContain(undefined);
});

describeThrottleStorage('Redis', async (clock) => new RedisThrottleStorage(await createLimiter(clock)));

describe('The windows of @Throttle() in Redis', () => {
  const request = (storage: RedisThrottleStorage) => storage.increment('key', 60_000, 10, 60_000);

  it('are exact over three replicas, in one expiring key', async () => {
    const clock = new TestClock();
    const create = async () => new RedisThrottleStorage(await createLimiter(clock, LIMITS, 'throttle:'));
    const replicas = [await create(), await create(), await create()];
    const results = await Promise.all(
      Array.from({ length: 99 }, (_, index) => Promise.all(replicas.slice(index % 3, (index % 3) + 1).map(request))),
    );
    const admitted = results.flat().filter(({ isBlocked }) => !isBlocked);
    expect(admitted.map(({ decision }) => decision.remaining).sort((a, b) => a - b)).toEqual([...Array(10).keys()]);
    expect(await admin.pttl('throttle:{key}:throttle')).toBeGreaterThan(50_000);
  });

  it('continue in the memory of the replica while Redis is unavailable', async () => {
    const own = await Server.startRedis();
    const limiter = await createLimiter(new TestClock(), LIMITS, 'away:', [own.url]);
    const storage = new RedisThrottleStorage(limiter);
    const remaining = [await request(storage)];
    await own.stop();
    remaining.push(await request(storage), await request(storage));
    expect(remaining.map(({ decision }) => decision.remaining)).toEqual([9, 8, 7]);
    await own.start();
    await eventually(10_000, () => !limiter.monitor.isDegraded);
    // Redis has lost its data, and never counted the requests that the replica admitted alone.
    const after = await Promise.all(Array.from({ length: 20 }, () => request(storage)));
    expect(after.filter(({ isBlocked }) => !isBlocked)).toHaveLength(7);
    expect(await own.openRedis().hget('away:{key}:throttle', 'used')).toBe('7');
  });

  it('count nothing after the deadline of a call', async () => {
    const usageStore = new RedisUsageStore(createRedisClient([server.url]), 'late:', LIMITS, () => 1_001);
    await usageStore.connect();
    const window = { name: 'default', limit: 10, ttl: 60_000, blockDuration: 60_000 };
    expect(await usageStore.throttle('key', window, 1_000)).toBeUndefined();
    expect(await usageStore.countAuthFailure('192.0.2.1', 1_000)).toBeUndefined();
    expect(await admin.keys('late:*')).toEqual([]);
    usageStore.close();
  });
});

describe('The limiter in Redis', () => {
  const principal = createPrincipal(7n, 8n, 60, 1_000);

  it('sets an expiry on every key, and keeps the keys of one account in one cluster slot', async () => {
    const limiter = await createLimiter(new TestClock(), LIMITS, 'keys:');
    await Promise.all(Array.from({ length: 61 }, async () => limiter.consume(principal)));
    await limiter.countAuthFailure('2001:db8::1');
    const keys = (await admin.keys('keys:*')).sort();
    expect(keys).toEqual(
      [...['keys:{2001:db8:0:0::/64}:client-ip', 'keys:{7}:ban:8', 'keys:{7}:windows', 'keys:{probe}:check']].sort(),
    );
    for (const key of keys.filter((name) => !name.endsWith(':check'))) {
      expect(await admin.pttl(key)).toBeGreaterThan(50_000);
    }
  });

  it('says how many requests without a key are left, also after Redis has lost its data', async () => {
    const limiter = await createLimiter(new TestClock());
    const fail = async () => (await limiter.countAuthFailure('192.0.2.1')).remaining;
    const before = await fail();
    await admin.flushall();
    expect(await fail()).toBe(before - 1);
  });

  it('makes no Redis call for a key known to be banned, or for an IP address known to be over its limit', async () => {
    const clock = new TestClock();
    const limiter = await createLimiter(clock);
    const small = createPrincipal(7n, 8n, 3, 10);
    const countCalls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
    for (let time = 0; time < 10; time++) {
      await limiter.consume(small);
      clock.advance(time === 4 ? 1_001 : 0);
      await limiter.countAuthFailure('192.0.2.1');
    }
    const before = await countCalls();
    for (let time = 0; time < 10_000; time++) {
      expect((await limiter.consume(small)).rejection).toBe('key_temporarily_banned');
      expect((await limiter.countAuthFailure('192.0.2.1')).rejection).toBe('too_many_auth_failures');
    }
    expect(await countCalls()).toBe(before);
    clock.advance(1_001);
    await limiter.consume(small);
    expect(await countCalls()).toBe(before + 1);
  });
});

it('The failed authentications of a client stay within the limit although Redis was unavailable in the meantime', async () => {
  const own = await Server.startRedis();
  const limiter = await createLimiter(new TestClock(), LIMITS, 'auth:', [own.url]);
  const fail = async (times: number) => {
    let unauthenticated = 0;
    for (let time = 0; time < times; time++) {
      unauthenticated += (await limiter.countAuthFailure('192.0.2.1')).rejection === undefined ? 1 : 0;
    }
    return unauthenticated;
  };
  const limit = LIMITS.authFailuresPerMinute;
  expect(await fail(1)).toBe(1);
  await own.stop();
  expect(await fail(limit - 2)).toBe(limit - 2);
  await own.start();
  await eventually(10_000, () => !limiter.monitor.isDegraded);
  expect(await fail(limit)).toBe(1);
});

describe('Requests of many keys that arrive in one event-loop tick', () => {
  // Two keys of one account, an account with one request left, and more accounts than one call can hold.
  const principals = [
    createPrincipal(1n, 1n, 3, 1_000),
    createPrincipal(1n, 2n, 3, 1_000),
    createPrincipal(2n, 3n, 1, 1_000),
    ...Array.from({ length: 60 }, (_, index) => createPrincipal(BigInt(index + 10), BigInt(index + 10), 5, 1_000)),
  ];

  it('get the same decisions as single requests, with one Redis call for sixteen keys', async () => {
    const clock = new TestClock();
    const [batched, unbatched] = [await createLimiter(clock), await createLimiter(clock)];
    const countCalls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
    for (let round = 0; round < 6; round++) {
      clock.advance(600);
      const before = await countCalls();
      const decisions = await Promise.all(principals.map(async (principal) => batched.consume(principal)));
      if (round === 0) {
        expect((await countCalls()) - before).toBe(Math.ceil(principals.length / 16));
      }
      const expected = [];
      for (const principal of principals) {
        expected.push(await unbatched.consume(principal));
      }
      expect(decisions).toEqual(expected);
    }
  });

  it('are counted with one call per key if the server only accepts keys of one slot per call', async () => {
    const [cluster] = await startRedisCluster([{}]);
    const limiter = await createLimiter(new TestClock(), LIMITS, 'slots:', [`${cluster?.url}`]);
    for (let round = 0; round < 2; round++) {
      await Promise.all(principals.slice(3).map(async (principal) => limiter.consume(principal)));
    }
    expect(limiter.monitor.isDegraded).toBe(false);
    expect(await cluster?.openRedis().hmget('slots:{10}:windows', 'minuteUsed', 'dayUsed')).toEqual(['2', '2']);
  });
});

describe('Replicas whose Redis loses data', () => {
  const consumeAll = async (replicas: readonly RedisRateLimiter[], principal: Principal, times: number) => {
    const passed = replicas.map(() => 0);
    for (let time = 0; time < times; time++) {
      const index = time % replicas.length;
      const decision = await replicas[index]?.consume(principal);
      passed[index] = (passed[index] ?? 0) + (decision?.rejection === undefined ? 1 : 0);
    }
    return passed;
  };
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

  it.each([
    ['restarts empty', () => admin.flushall()],
    ['evicts a key', () => admin.del(`test-${count}:{5}:windows`)],
  ])('let the rest of the allowance pass if it %s, and each admits at most the allowance', async (_, lose) => {
    const prefix = `test-${++count}:`;
    const clock = new TestClock();
    const replicas = await Promise.all([1, 2, 3].map(() => createLimiter(clock, LIMITS, prefix)));
    const principal = createPrincipal(5n, 5n, 1_000, 100);
    const before = await consumeAll(replicas, principal, 40);
    await lose();
    const after = await consumeAll(replicas, principal, 150);
    expect(sum(before)).toBe(40);
    expect(sum(after)).toBeGreaterThanOrEqual(60);
    expect(Math.max(...before.map((passed, index) => passed + (after[index] ?? 0)))).toBeLessThanOrEqual(100);
    expect(await admin.hget(`${prefix}{5}:windows`, 'dayUsed')).toBe(`${sum(after)}`);
    // The next day is exact again.
    clock.advance(86_400_000);
    expect(sum(await consumeAll(replicas, principal, 150))).toBe(100);
  });

  it('charge nothing for the rejected requests of a minute that Redis has lost', async () => {
    const clock = new TestClock();
    const prefix = `test-${++count}:`;
    const limiter = await createLimiter(clock, LIMITS, prefix);
    const principal = createPrincipal(5n, 5n, 10, 1_000);
    await consumeAll([limiter], principal, 10);
    clock.advance(50_000);
    await admin.flushall();
    expect(await consumeAll([limiter], principal, 8)).toEqual([0]);
    expect(await admin.exists(`${prefix}{5}:windows`)).toBe(0);
    clock.advance(10_000);
    expect(await consumeAll([limiter], principal, 20)).toEqual([10]);
  });

  it('charge nothing for what they reject while several keys of an account send requests', async () => {
    const prefix = `test-${++count}:`;
    const limiter = await createLimiter(new TestClock(), LIMITS, prefix);
    const keys = [1n, 2n].map((keyId) => createPrincipal(5n, keyId, 1_000, 60));
    const [principal = createPrincipal(5n, 1n, 1_000, 60)] = keys;
    expect(await consumeAll([limiter], principal, 55)).toEqual([55]);
    await admin.flushall();
    const decisions = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        if (index >= 20) {
          await new Promise(setImmediate);
        }
        return limiter.consume(keys[index % 2] ?? principal);
      }),
    );
    expect(decisions.filter(({ rejection }) => rejection === undefined)).toHaveLength(5);
    expect(await admin.hget(`${prefix}{5}:windows`, 'dayUsed')).toBe('5');
  });

  it('count each of 4,000 requests once while the scripts are flushed again and again', async () => {
    const prefix = `test-${++count}:`;
    const clock = new TestClock();
    const replicas = await Promise.all([1, 2].map(() => createLimiter(clock, LIMITS, prefix)));
    const principal = createPrincipal(6n, 6n, 1_000_000, 1_000_000);
    let passed = 0;
    for (let round = 0; round < 40; round++) {
      const decisions = Array.from({ length: 100 }, async (_, index) => {
        // They are sent in several ticks, so that some calls find the scripts flushed.
        for (let tick = 0; tick < index % 10; tick++) {
          await new Promise(setImmediate);
        }
        return replicas[index % 2]?.consume(principal);
      });
      await admin.script('FLUSH');
      passed += (await Promise.all(decisions)).filter((decision) => decision?.rejection === undefined).length;
    }
    expect(passed).toBe(4_000);
    expect(await admin.hmget(`${prefix}{6}:windows`, 'minuteUsed', 'dayUsed')).toEqual(['4000', '4000']);
    expect(replicas.map(({ monitor }) => monitor.breakerOpenings)).toEqual([0, 0]);
  });
});

describe('Bad data in Redis', () => {
  it.each<[string, (key: string) => Promise<unknown>]>([
    ['a string', (key) => admin.set(key, 'garbage')],
    ['a list', (key) => admin.multi().del(key).lpush(key, '1').exec()],
    ...['abc', '-1', 'nan', 'inf', '1e308', '1.5', ''].map((value): [string, (key: string) => Promise<unknown>] => [
      `a hash with the values "${value}"`,
      (key) =>
        admin.hset(
          key,
          ...['minuteEndsAt', 'minuteUsed', 'dayEndsAt', 'dayUsed', 'endsAt', 'used', 'rejections', 'rejectionsUntil']
            .concat(['bans', 'bannedUntil', 'unbans', 'exhaustedUntil', 'firstRejectedAt'])
            .flatMap((field) => [field, value]),
        ),
    ]),
  ])('of one account (%s) costs neither the account its limits, nor others theirs', async (_, corrupt) => {
    const prefix = `test-${++count}:`;
    const clock = new TestClock();
    const replicas = await Promise.all([1, 2].map(() => createLimiter(clock, LIMITS, prefix)));
    const principals = [1n, 2n, 3n].map((id) => createPrincipal(id, id, 60, 1_000));
    const passed = new Map<string, number>();
    const authFailures: number[] = [];
    for (let round = 0; round < 100; round++) {
      if (round === 10 || round === 20) {
        await Promise.all([`{2}:windows`, `{2}:ban:2`, `{192.0.2.1}:client-ip`].map((key) => corrupt(prefix + key)));
      }
      await Promise.all(
        replicas.flatMap((limiter, replica) =>
          principals.map(async (principal) => {
            const { rejection } = await limiter.consume(principal);
            const name = `${principal.accountId} ${replica}`;
            passed.set(name, (passed.get(name) ?? 0) + (rejection === undefined ? 1 : 0));
          }),
        ),
      );
      authFailures.push((await replicas[0]?.countAuthFailure('192.0.2.1'))?.remaining ?? NaN);
    }
    const sumOf = (id: number) => (passed.get(`${id} 0`) ?? 0) + (passed.get(`${id} 1`) ?? 0);
    expect([sumOf(1), sumOf(3)]).toEqual([60, 60]);
    expect(sumOf(2)).toBeGreaterThanOrEqual(60);
    expect(Math.max(passed.get('2 0') ?? 0, passed.get('2 1') ?? 0)).toBeLessThanOrEqual(60);
    expect(authFailures.at(-1)).toBe(0);
    expect(await admin.type(`${prefix}{2}:windows`)).toBe('hash');
    expect(await admin.hget(`${prefix}{2}:windows`, 'minuteUsed')).toBe('60');
    expect(await admin.pttl(`${prefix}{2}:windows`)).toBeGreaterThan(0);
    expect(replicas.map(({ monitor }) => [monitor.breakerOpenings, monitor.bansImposed])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });
});

describe('A principal without valid rate limits', () => {
  it.each([
    ['undefined', undefined],
    ['NaN', { perMinute: NaN, perDay: NaN }],
  ])('(%s) gets an error, and the requests of others in the same call are counted', async (_, allowance) => {
    const prefix = `test-${++count}:`;
    const limiter = await createLimiter(new TestClock(), LIMITS, prefix);
    const invalid = { ...createPrincipal(1n, 1n, 1, 1), allowance } as Principal;
    const valid = createPrincipal(2n, 2n, 5, 100);
    const results = await Promise.allSettled(
      [valid, invalid, valid, invalid].map(async (principal) => limiter.consume(principal)),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    await expect(limiter.readUsage(invalid)).rejects.toThrow();
    expect(await admin.hget(`${prefix}{2}:windows`, 'dayUsed')).toBe('2');
    expect(limiter.monitor.breakerOpenings).toBe(0);
  });
});

describe('The connection to Redis', () => {
  const readFailure = async (url: string) => {
    const usageStore = new RedisUsageStore(createRedisClient([url]), '', LIMITS);
    const failure = await usageStore.connect().then(() => 'none', String);
    usageStore.close();
    return failure;
  };

  it('reports why it failed: connection refused, wrong password or TLS', async () => {
    expect(await readFailure(`redis://127.0.0.1:${await findFreePort()}`)).toContain('ECONNREFUSED');
    await admin.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all', '-select');
    expect(await readFailure(`redis://limited:wrong@127.0.0.1:${server.port}`)).toContain('WRONGPASS');
    const plain = createServer((socket) => socket.on('error', () => undefined).end('-ERR not TLS\r\n'));
    expect(await readFailure(`rediss://127.0.0.1:${await listen(plain)}`)).toContain('SSL');
  });

  it('never uses a database other than the configured one', async () => {
    expect(await readFailure(`${server.url}/99`)).toBe(
      'Error: Redis does not let the service use the database in REDIS_URL (ERR DB index is out of range).',
    );
    expect(await readFailure(`redis://limited:secret@127.0.0.1:${server.port}/1`)).toMatch(
      /run the 'select' command; grant the permissions with: .* \+select$/,
    );
    expect(await readFailure(`redis://limited:secret@127.0.0.1:${server.port}`)).toBe('none');
  });
});

describe('The limiter in Redis Cluster', () => {
  let nodes: Server[];

  beforeAll(async () => {
    nodes = await startRedisCluster();
  });

  it('admits exactly the allowance of each account on every node', async () => {
    const clock = new TestClock();
    const urls = nodes.map(({ url }) => url);
    const replicas = [await createLimiter(clock, LIMITS, '', urls), await createLimiter(clock, LIMITS, '', urls)];
    const principals = Array.from({ length: 10 }, (_, index) => createPrincipal(BigInt(index), BigInt(index), 30, 100));
    const decisions = await Promise.all(
      principals.flatMap((principal) =>
        Array.from({ length: 50 }, async (_, index) => {
          const decision = await replicas[index % 2]?.consume(principal);
          return decision?.rejection === undefined ? principal.accountId : undefined;
        }),
      ),
    );
    for (const { accountId } of principals) {
      expect(decisions.filter((passed) => passed === accountId)).toHaveLength(30);
    }
    const sizes = await Promise.all(nodes.map((node) => node.openRedis().dbsize()));
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  it.each(['redis+cluster', 'redis'])(
    'shares the limits of a replica that starts before the cluster is reachable (%s://)',
    async (scheme) => {
      // With redis://, the replica learns from an error that the server is a cluster, so this cluster has a single node.
      const [node] = scheme === 'redis' ? await startRedisCluster([{}]) : nodes;
      const proxy = await Proxy.start(Number(await findFreePort()));
      const clock = new TestClock();
      const early = await startRedisLimiter(clock, LIMITS, 'early:', [`${scheme}://127.0.0.1:${proxy.port}`]);
      expect(early.monitor.isDegraded).toBe(true);
      await proxy.switchTo(Number(node?.port));
      await eventually(10_000, () => !early.monitor.isDegraded);
      const late = await createLimiter(clock, LIMITS, 'early:', [`${node?.url}`.replace('redis:', `${scheme}:`)]);
      for (const accountId of [1n, 2n, 3n, 4n, 5n]) {
        const decisions = await Promise.all(
          Array.from({ length: 20 }, async (_, index) =>
            [early, late][index % 2]?.consume(createPrincipal(accountId, accountId, 10, 100)),
          ),
        );
        expect(decisions.filter((decision) => decision?.rejection === undefined)).toHaveLength(10);
      }
    },
  );

  it('counts a request once if the connection breaks before the response arrives', async () => {
    const proxy = await Proxy.start(0);
    const announced = ['--cluster-announce-ip', '127.0.0.1', '--cluster-announce-port', `${proxy.port}`];
    // With a single node, the client would not repeat calls anyway.
    const [node] = await startRedisCluster([{ options: announced }, {}]);
    await proxy.switchTo(Number(node?.port));
    const operator = node?.openRedis();
    const clock = new TestClock();
    const limiter = await createLimiter(clock, LIMITS, '', [`redis+cluster://127.0.0.1:${proxy.port}`], 100);
    // An account of the first node.
    const principal = createPrincipal(2n, 2n, 60, 1_000);
    const countUsed = async () => Number(await operator?.hget('{2}:windows', 'dayUsed'));
    await limiter.consume(principal);
    await proxy.delay(300);
    await limiter.consume(principal);
    await eventually(5_000, async () => (await countUsed()) === 2);
    await proxy.closeConnections('RST');
    await proxy.delay(0);
    // Reading counts nothing, and takes longer than the client would take to repeat the call.
    let readings = 0;
    await eventually(10_000, async () => {
      await limiter.readUsage(principal);
      return ++readings >= 50 && !limiter.monitor.isDegraded;
    });
    expect(await countUsed()).toBe(2);
  });

  it('keeps the limits of other accounts exact while the slot of one account is moved to another node', async () => {
    const [source, target] = nodes.map((node) => node.openRedis());
    const [sourceId, targetId] = [await source?.call('cluster', 'myid'), await target?.call('cluster', 'myid')];
    // The first node has the first third of the slots.
    const ids = Array.from({ length: 100 }, (_, index) => BigInt(index)).filter((id) => calculateSlot(`${id}`) < 5_000);
    const [moving = 0n, ...others] = ids.slice(0, 6);
    const slot = calculateSlot(`${moving}`);
    await target?.call('cluster', 'setslot', slot, 'importing', `${String(sourceId)}`);
    await source?.call('cluster', 'setslot', slot, 'migrating', `${String(targetId)}`);
    const urls = nodes.map(({ url }) => url);
    const clock = new TestClock();
    const create = () => createLimiter(clock, LIMITS, 'moving:', urls);
    const replicas = [await create(), await create()];
    const passed = new Map<bigint, number>();
    for (let round = 0; round < 30; round++) {
      await Promise.all(
        [moving, ...others, ...others].map(async (id, index) => {
          const decision = await replicas[index % 2]?.consume(createPrincipal(id, id, 20, 1_000));
          passed.set(id, (passed.get(id) ?? 0) + (decision?.rejection === undefined ? 1 : 0));
        }),
      );
    }
    await source?.call('cluster', 'setslot', slot, 'stable');
    await target?.call('cluster', 'setslot', slot, 'stable');
    expect(others.map((id) => passed.get(id))).toEqual(others.map(() => 20));
    expect(passed.get(moving)).toBe(20);
    expect(replicas.map(({ monitor }) => monitor.breakerOpenings)).toEqual([0, 0]);
  });

  describe('that changes', () => {
    const THIRD = 5_462;
    const LAST_UNSERVED = 1_000;
    let first: Redis | undefined;
    let admins: Redis[];
    let changing: Server[];
    let proxy: Proxy;
    let accounts = 0n;

    beforeAll(async () => {
      proxy = await Proxy.start(0);
      const announced = ['--cluster-announce-ip', '127.0.0.1', '--cluster-announce-port', `${proxy.port}`];
      changing = await startRedisCluster([{ options: announced }, {}, {}]);
      await proxy.switchTo(Number(changing[0]?.port));
      admins = changing.map((node) => node.openRedis());
      [first] = admins;
    });

    const clock = new TestClock();
    const create = () => createLimiter(clock, LIMITS, 'changing:', [`redis+cluster://127.0.0.1:${changing[1]?.port}`]);
    /** Returns an account that no test has used, in one of these slots. */
    const createAccount = (isWanted: (slot: number) => boolean): bigint => {
      do {
        accounts++;
      } while (!isWanted(calculateSlot(`${accounts}`)));
      return accounts;
    };
    const onFirstNode = (slot: number) => slot < THIRD;
    const onOthers = (slot: number) => slot >= THIRD;
    const isUnserved = (slot: number) => slot <= LAST_UNSERVED;
    const isServed = (slot: number) => slot > LAST_UNSERVED;
    const isShared = async (replicas: readonly RedisRateLimiter[], account: bigint) => {
      const decisions = await Promise.all(
        replicas.map(async (replica) => replica.consume(createPrincipal(account, account, 1, 1_000))),
      );
      return decisions.filter(({ rejection }) => rejection === undefined).length === 1;
    };

    it('counts locally for accounts in slots that no node serves, and shares all other limits', async () => {
      const running = await create();
      await Promise.all(admins.map((each) => each.call('CLUSTER', 'DELSLOTSRANGE', 0, LAST_UNSERVED)));
      const later = [await create(), await create()];
      for (const replicas of [[running, await create()], later]) {
        for (let time = 0; time < 30; time++) {
          expect(await isShared(replicas, createAccount(isUnserved))).toBe(false);
          expect(await isShared(replicas, createAccount(isServed))).toBe(true);
        }
        expect(replicas.map(({ monitor }) => monitor.isDegraded)).toEqual([false, false]);
      }
      await first?.call('CLUSTER', 'ADDSLOTSRANGE', 0, LAST_UNSERVED);
      await eventually(10_000, () => isShared(later, createAccount(isUnserved)));
    });

    it('shares the limits again within seconds when a node has moved to another address', async () => {
      const replicas = [await create(), await create()];
      expect(await isShared(replicas, createAccount(onFirstNode))).toBe(true);
      await proxy.switchTo(1);
      await proxy.closeConnections('RST');
      await first?.config('SET', 'cluster-announce-port', `${changing[0]?.port}`);
      await isShared(replicas, createAccount(onFirstNode));
      expect(await isShared(replicas, createAccount(onOthers))).toBe(true);
      await eventually(
        10_000,
        async () =>
          (await isShared(replicas, createAccount(onFirstNode))) &&
          replicas.every(({ monitor }) => !monitor.isDegraded),
      );
    });
  });

  it('opens one breaker when a node is down: limits on other nodes stay exact, and each replica admits at most the allowance of an account on it', async () => {
    const clock = new TestClock();
    const urls = nodes.map(({ url }) => url);
    // Bans must not affect the counts.
    const settings = { ...LIMITS, banWindowSeconds: 1, banDurationsSeconds: [1] };
    const replicas = [
      await createLimiter(clock, settings, 'down:', urls),
      await createLimiter(clock, settings, 'down:', urls),
    ];
    const accounts = Array.from({ length: 30 }, (_, index) => BigInt(1_000 + index));
    const countPassed = async (accountId: bigint, perMinute: number) => {
      const decisions = await Promise.all(
        Array.from({ length: 3 * perMinute }, async (_, index) =>
          replicas[index % 2]?.consume(createPrincipal(accountId, accountId, perMinute, 1_000)),
        ),
      );
      return decisions.filter((decision) => decision?.rejection === undefined).length;
    };
    expect(await Promise.all(accounts.map((account) => countPassed(account, 4)))).toEqual(accounts.map(() => 4));
    await nodes[1]?.stop();
    clock.advance(61_000);
    const open = () => replicas.every(({ monitor }) => monitor.isDegraded);
    await eventually(5_000, async () => {
      await Promise.all(accounts.map((account) => countPassed(account, 4)));
      return open();
    });
    for (let round = 0; round < 5; round++) {
      clock.advance(61_000);
      const passed = await Promise.all(accounts.map((account) => countPassed(account, 4)));
      expect(passed.filter((number) => number === 4).length).toBeGreaterThanOrEqual(10);
      expect(passed.filter((number) => number !== 4 && number !== 8)).toEqual([]);
    }
    expect(replicas.map(({ monitor }) => monitor.breakerOpenings)).toEqual([1, 1]);
    await nodes[1]?.start();
    await eventually(20_000, () => replicas.every(({ monitor }) => !monitor.isDegraded));
    clock.advance(61_000);
    expect(await Promise.all(accounts.map((account) => countPassed(account, 4)))).toEqual(accounts.map(() => 4));
  });
});
