import { listStatuses, Client, getErrorCode, runConcurrently, filterSuccessful, type Reply } from './support/client';
import { withClockOffset } from './support/clocks';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { eventually, Replica } from './support/replica';

const ALL_REMAINING = Array.from({ length: 60 }, (_, n) => 59 - n);

/** The largest difference between the reset times of the responses, in seconds. */
const resetSpread = (replies: readonly Reply[]) => {
  const resets = replies.map(({ headers }) => Number(headers['x-ratelimit-reset']));
  return Math.max(...resets) - Math.min(...resets);
};

describe('Four replicas with one Redis', () => {
  let { env, store, admin } = {} as ClusterWithRedis;
  let replicas: Replica[];
  const getPort = (index: number) => replicas[index % replicas.length]?.port ?? NaN;

  beforeAll(async () => {
    ({ env, store, admin } = await startClusterWithRedis({ replicas: 0, env: { BAN_DURATIONS_SECONDS: '30' } }));
    const offsets = ['+0s', '+45s', '-45s', '+1h'];
    replicas = await Promise.all(offsets.map((offset) => Replica.start({ ...env, ...withClockOffset(offset) })));
  });

  /** Sends 2,000 requests with one key from 200 concurrent workers to all replicas. */
  const flood = async (key: string) => {
    const client = new Client(key);
    return runConcurrently(200, 2_000, (index) => client.call(getPort(index)));
  };
  it('make no Redis call for preflights and malformed requests, but still return the rate limit headers of the client IP address', async () => {
    const origin = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    const port = getPort(0);
    const client = new Client('');
    const countScripts = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
    const counted = Number((await client.call(port)).headers['x-ratelimit-remaining']);
    const before = await countScripts();
    const preflight = await client.call(port, { method: 'OPTIONS', headers: origin });
    const malformed = await client.call(port, { headers: { 'x-large': 'a'.repeat(20_000) } });
    expect([preflight.status, malformed.status]).toEqual([204, 431]);
    expect([preflight, malformed].map(({ headers }) => Number(headers['x-ratelimit-remaining']))).toEqual([
      counted,
      counted,
    ]);
    expect(await countScripts()).toBe(before);
  });

  const expectExactAllowance = (replies: readonly Reply[]) => {
    const [good, rejected] = [filterSuccessful(replies), replies.filter(({ status }) => status >= 300)];
    expect(good.map(({ headers }) => Number(headers['x-ratelimit-remaining'])).sort((a, b) => b - a)).toEqual(
      ALL_REMAINING,
    );
    expect(listStatuses(rejected)).toEqual([429]);
    expect(new Set(replies.map(({ port }) => port)).size).toBe(4);
    const overTheLimit = rejected.filter((reply) => getErrorCode(reply) === 'rate_limit_exceeded');
    expect(resetSpread([...good, ...overTheLimit])).toBeLessThanOrEqual(1);
    expect(
      resetSpread(rejected.filter((reply) => getErrorCode(reply) === 'key_temporarily_banned')),
    ).toBeLessThanOrEqual(1);
  };

  it('have clocks that differ by more than an hour (precondition)', async () => {
    const client = new Client(await store.createUnlimitedKey());
    const dates = await Promise.all(replicas.map(({ port }) => client.call(port)));
    const seconds = dates.map(({ headers }) => (Date.parse(headers.date ?? '') - Date.now()) / 1_000);
    [0, 45, -45, 3_600].forEach((offset, index) => {
      expect(Math.abs((seconds[index] ?? NaN) - offset)).toBeLessThan(5);
    });
  });

  let [floodedKey, floodedUntil] = ['', 0];

  it('admit exactly the allowance, with each remaining value from 59 to 0 once', async () => {
    floodedKey = await store.createKey('free');
    const replies = await flood(floodedKey);
    expectExactAllowance(replies);
    floodedUntil = Number(filterSuccessful(replies)[0]?.headers['x-ratelimit-reset']) * 1_000;
  });

  it('do not ban a key for 200 requests at once', async () => {
    const client = new Client(await store.createKey('free'));
    const replies = await runConcurrently(200, 200, (index) => client.call(getPort(index)));
    const codes = replies.map((reply) => (reply.status === 200 ? 'admitted' : getErrorCode(reply)));
    expect(codes.filter((code) => code === 'admitted')).toHaveLength(60);
    expect(codes.filter((code) => code === 'rate_limit_exceeded')).toHaveLength(140);
  });

  it('admit exactly the allowance again in the next minute', async () => {
    await eventually(61_000, () => Date.now() > floodedUntil);
    expectExactAllowance(await flood(floodedKey));
  }, 120_000);
});
