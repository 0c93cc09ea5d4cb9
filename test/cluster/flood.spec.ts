import { Redis } from 'ioredis';
import { Client, computeP99, getErrorCode, runConcurrently } from './support/client';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

describe('During a flood with one key, four replicas with one Redis', () => {
  let [redis, postgres] = [] as unknown as [Server, Server];
  let replicas: Replica[];
  let store: Store;
  let admin: Redis;

  beforeAll(async () => {
    [redis, postgres] = await Promise.all([Server.startRedis(), Server.startPostgres()]);
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, BAN_DURATIONS_SECONDS: '30' };
    replicas = await Replica.startAll(4, env);
    store = await Store.open(postgres.url);
    admin = new Redis(redis.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await store.close();
    await Promise.all(replicas.map(({ program }) => program.kill('SIGKILL')));
    await Promise.all([redis.remove(), postgres.remove()]);
  });

  const getPort = (index: number) => replicas[index % replicas.length]?.port ?? 0;

  it('serve other accounts normally, and put almost no load on Redis', async () => {
    const [flooding, other] = [
      new Client(await store.createKey('free')),
      new Client(await store.createKey('business')),
    ];
    // Warm up, because requests are slow right after startup.
    const early = new Client(await store.createUnlimitedKey());
    await runConcurrently(50, 1_500, (index) => early.call(getPort(index)));
    early.close();
    await eventually(10_000, async () => {
      const early = await runConcurrently(50, 100, (index) => flooding.call(getPort(index)));
      return early.every((reply) => reply.status !== 200 && getErrorCode(reply) === 'key_temporarily_banned');
    });
    await admin.config('RESETSTAT');
    const [rejected, replies] = await Promise.all([
      runConcurrently(150, 6_000, (index) => flooding.call(getPort(index))),
      runConcurrently(10, 800, (index) => other.call(getPort(index))),
    ]);
    flooding.close();
    other.close();
    expect(new Set(rejected.map(getErrorCode))).toEqual(new Set(['key_temporarily_banned']));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(computeP99(replies)).toBeLessThan(500);
    const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1]);
    // One call per request of the other account. For the banned key, each replica makes a few calls per second.
    expect(calls - 800).toBeLessThan(6_000 / 20);
  });
});
