import { listStatuses, Client, computeP99, getErrorCode, runConcurrently } from './support/client';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { eventually } from './support/replica';

describe('During a flood with one key, four replicas with one Redis', () => {
  let { store, admin, getPort } = {} as ClusterWithRedis;

  beforeAll(async () => {
    ({ store, admin, getPort } = await startClusterWithRedis({ replicas: 4, env: { BAN_DURATIONS_SECONDS: '30' } }));
  });

  it('serve other accounts no slower than beside as many admitted requests, and put almost no load on Redis', async () => {
    const [flooding, other, unlimited] = [
      new Client(await store.createKey('free')),
      new Client(await store.createUnlimitedKey()),
      new Client(await store.createUnlimitedKey()),
    ];
    const serveBeside = (neighbor: Client) =>
      Promise.all([
        runConcurrently(150, 6_000, (index) => neighbor.call(getPort(index))),
        runConcurrently(10, 800, (index) => other.call(getPort(index))),
      ]);
    // Warm up, because requests are slow right after startup.
    await runConcurrently(50, 1_500, (index) => unlimited.call(getPort(index)));
    const [, normal] = await serveBeside(unlimited);
    await eventually(10_000, async () => {
      const early = await runConcurrently(50, 100, (index) => flooding.call(getPort(index)));
      return early.every((reply) => reply.status !== 200 && getErrorCode(reply) === 'key_temporarily_banned');
    });
    await admin.config('RESETSTAT');
    const [rejected, replies] = await serveBeside(flooding);
    expect(new Set(rejected.map(getErrorCode))).toEqual(new Set(['key_temporarily_banned']));
    expect(listStatuses(replies)).toEqual([200]);
    expect(computeP99(replies)).toBeLessThan(computeP99(normal));
    const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1]);
    // One call per request of the other account. For the banned key, each replica makes a few calls per second.
    expect(calls - 800).toBeLessThan(6_000 / 20);
  });
});
