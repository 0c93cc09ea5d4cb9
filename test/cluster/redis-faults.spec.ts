import { findFreePort, parseLog, Program } from '../support/process';
import { Client, computeP99, filterSuccessful, type Reply } from './support/client';
import { type Cluster, startCluster } from './support/cluster';
import { Proxy } from './support/proxy';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';

const REPLICAS = 4;
const ALLOWANCE = 50;

describe('While Redis fails', () => {
  let redis: Server;
  let proxy: Proxy;
  let { env, replicas, getPort, createLimitedKey, send, areLimitsShared } = {} as Cluster;

  beforeAll(async () => {
    redis = await Server.startRedis();
    proxy = await Proxy.start(redis.port);
    // Bans must not affect the counts.
    const settings = { BAN_WINDOW_SECONDS: '1', BAN_DURATIONS_SECONDS: '1' };
    ({ env, replicas, getPort, createLimitedKey, send, areLimitsShared } = await startCluster({
      replicas: REPLICAS,
      env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, ...settings },
    }));
    // Warm up, because requests are slow right after startup.
    await send(await createKey(), 400);
  });

  const createKey = (perMinute = ALLOWANCE) => createLimitedKey(perMinute);
  const countPassed = (replica: Replica, replies: readonly Reply[]) =>
    filterSuccessful(replies).filter(({ port }) => port === replica.port).length;

  const itKeepsLimitingWhile = (fault: string, begin: () => Promise<void> | void, end: () => Promise<void> | void) => {
    it(`(${fault}) each replica quickly returns 200 or 429 and admits at most the allowance; 3 s later limits are shared again`, async () => {
      await eventually(3_000, areLimitsShared);
      const key = await createKey();
      const before = await send(key, 20);
      await begin();
      const during = await send(key, 1_000);
      await end();
      expect(await eventually(3_000, areLimitsShared)).toBeLessThan(3_000);
      const after = await send(key, 200);
      expect(filterSuccessful(await send(await createKey(), 400))).toHaveLength(ALLOWANCE);

      expect(before.map(({ status }) => status)).toEqual(Array(20).fill(200));
      const all = [...before, ...during, ...after];
      for (const { status, headers } of all) {
        expect([200, 429]).toContain(status);
        expect(Number(headers['x-ratelimit-limit'])).toBe(ALLOWANCE);
        expect(Number(headers['x-ratelimit-remaining'])).toBeGreaterThanOrEqual(0);
        expect(Math.abs(Number(headers['x-ratelimit-reset']) - Date.now() / 1_000)).toBeLessThan(70);
        expect(headers['retry-after'] === undefined).toBe(status === 200);
      }
      expect(computeP99(during)).toBeLessThan(300);
      for (const replica of replicas) {
        expect(countPassed(replica, all)).toBeLessThanOrEqual(ALLOWANCE);
      }
    });
  };

  itKeepsLimitingWhile(
    'it is down, and restarts empty',
    () => redis.stop(),
    () => redis.start(),
  );
  itKeepsLimitingWhile(
    'it is frozen',
    () => {
      redis.freeze();
    },
    () => {
      redis.thaw();
    },
  );
  itKeepsLimitingWhile(
    'it takes a second longer to respond',
    () => proxy.delay(1_000),
    () => proxy.delay(0),
  );
  itKeepsLimitingWhile(
    'its machine disappears without closing connections, and another one takes over',
    () => proxy.dropData(),
    () => undefined,
  );

  it('a replica still starts, and shares the limits once Redis is available', async () => {
    await redis.stop();
    const another = await Replica.start(env);
    const client = new Client(await createKey());
    expect((await client.call(another.port)).status).toBe(200);
    expect(await another.isReady()).toBe(true);
    await redis.start();
    const isShared = async () => {
      const one = new Client(await createKey(1));
      const replies = await Promise.all([one.call(another.port), one.call(getPort(0))]);
      return filterSuccessful(replies).length === 1;
    };
    expect(await eventually(3_000, isShared)).toBeLessThan(3_000);
  });

  /** @returns how many times each replica became degraded during some seconds of a fault */
  const countOpenings = async (begin: () => Promise<unknown>, end: () => Promise<unknown>) => {
    await eventually(3_000, areLimitsShared);
    const readOpenings = async () =>
      Promise.all(
        replicas.map(async ({ url }) => {
          const text = await (await fetch(`${url}/metrics`)).text();
          return Number(/^petstore_redis_breaker_openings_total (\d+)$/m.exec(text)?.[1]);
        }),
      );
    const before = await readOpenings();
    await begin();
    const key = await createKey(100_000);
    const startedAt = performance.now();
    while (performance.now() - startedAt < 5_000) {
      const replies = await send(key, 200);
      expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    }
    const after = await readOpenings();
    await end();
    await eventually(3_000, areLimitsShared);
    return after.map((opened, index) => opened - (before[index] ?? 0));
  };

  it('a constant response time of 45 ms opens the breaker of a replica at most once', async () => {
    const openings = await countOpenings(
      () => proxy.delay(22),
      () => proxy.delay(0),
    );
    expect(Math.max(...openings)).toBeLessThanOrEqual(1);
  });

  it('a Redis without free memory opens the breaker of a replica once', async () => {
    const admin = redis.openRedis();
    const openings = await countOpenings(
      () => admin.config('SET', 'maxmemory', '1'),
      () => admin.config('SET', 'maxmemory', '0'),
    );
    expect(openings).toEqual(Array(REPLICAS).fill(1));
  });

  it('the log has every reason why Redis is unavailable', async () => {
    await eventually(3_000, areLimitsShared);
    const key = await createKey();
    const admin = redis.openRedis();
    await admin.config('SET', 'requirepass', 'rotated');
    await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually(5_000, async () => {
      await send(key, REPLICAS);
      return replicas.every(({ program }) => /"(breaker_opened|redis_failed)".+NOAUTH/.test(program.stdout));
    });
    await admin.config('SET', 'requirepass', '');
    await eventually(3_000, areLimitsShared);
  });

  it('a replica exits with one line when the database number does not exist in Redis', async () => {
    const program = new Program('main.js', [], {
      ...{ ...env, APP_ENV: 'production', PORT: await findFreePort() },
      REDIS_URL: `redis://127.0.0.1:${redis.port}/99`,
    });
    const { code, stdout, stderr } = await program.exit;
    expect([code, stderr]).toEqual([1, '']);
    expect(parseLog(stdout).filter((line) => line['event.action'] === 'start_failed')).toMatchObject([
      {
        'log.level': 'fatal',
        message: 'Redis does not let the service use the database in REDIS_URL (ERR DB index is out of range).',
      },
    ]);
  });

  describe('when the primary is demoted under load, and another server takes over', () => {
    let other: Server;

    beforeAll(async () => {
      other = await Server.startRedis();
    });

    itKeepsLimitingWhile(
      'its connections stay open',
      async () => {
        await proxy.switchTo(other.port);
        await redis.openRedis().replicaof('127.0.0.1', other.port);
      },
      () => undefined,
    );
  });
});
