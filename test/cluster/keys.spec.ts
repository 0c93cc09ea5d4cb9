import { AccountsService, type ApiKey, type IssuedKey, KeysService } from '../../src/auth';
import { ApiKeyRepository } from '../../src/auth/domain/api-key.repository';
import { FIND_CHANGES_SINCE } from '../../src/auth/persistence/typeorm-api-key.repository';
import { runCommand, readJson } from '../support/command-line';
import { Client, getErrorCode, type Reply } from './support/client';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { Proxy } from './support/proxy';
import { eventually, Replica } from './support/replica';

/** An operator's change takes effect on every replica within this time. */
const MAX_PROPAGATION_MS = 1_000;

describe('While a key is in use on two replicas', () => {
  let { postgres, redis, replicas, store, env } = {} as ClusterWithRedis;

  beforeAll(async () => {
    const settings = { APP_ENV: 'production', DRAIN_SECONDS: '0' };
    ({ postgres, redis, replicas, store, env } = await startClusterWithRedis({ replicas: 2, env: settings }));
  });

  const createKey = async (expiresAt?: Date) => {
    const account = await accounts().create('Test', 'business');
    return keys().create(account.id, expiresAt);
  };

  /** Adds animals with a key on each replica until the response changes. @returns when the last request before the change was sent, if any */
  const useUntil = async (
    { secret }: IssuedKey,
    isChanged: (reply: Reply) => boolean,
    statusBefore = 201,
  ): Promise<number> => {
    const client = new Client(secret);
    const lastTimes = await Promise.all(
      replicas.map(async ({ port }) => {
        let lastSentAt = -Infinity;
        await eventually(10_000, async () => {
          const sentAt = Date.now();
          const reply = await client.add(port, 'Rex');
          if (isChanged(reply)) {
            return true;
          }
          expect(reply.status).toBe(statusBefore);
          lastSentAt = sentAt;
          return false;
        });
        return lastSentAt;
      }),
    );
    return Math.max(...lastTimes);
  };
  const isCreated = ({ status }: Reply) => status === 201;
  const isRejectedWith = (status: number, code: string) => (reply: Reply) =>
    reply.status === status && getErrorCode(reply) === code;
  /** Uses the key on each replica, so that each one caches it. */
  const warmUp = (key: IssuedKey) => useUntil(key, isCreated);
  /** Makes a change while the key is used. */
  const expectToTakeEffect = async (change: () => Promise<unknown>, ...use: Parameters<typeof useUntil>) => {
    const used = useUntil(...use);
    await change();
    const changedAt = Date.now();
    expect((await used) - changedAt).toBeLessThan(MAX_PROPAGATION_MS);
  };

  const keys = () => store.get(KeysService);
  const accounts = () => store.get(AccountsService);

  it.each<[what: string, change: (key: ApiKey) => Promise<unknown>, isChanged: (reply: Reply) => boolean]>([
    ['its revocation', ({ id }) => keys().revoke(id), isRejectedWith(401, 'invalid_api_key')],
    ['a new scope', ({ id }) => keys().setScope(id, 'read'), isRejectedWith(403, 'insufficient_scope')],
    [
      'a new plan of its account',
      ({ accountId }) => accounts().setPlan(accountId, 'pro'),
      ({ headers }) => headers['x-ratelimit-limit'] === '300',
    ],
  ])('%s takes effect on both within a second', async (_, change, isChanged) => {
    const key = await createKey();
    await warmUp(key);
    await expectToTakeEffect(() => change(key.key), key, isChanged);
  });

  it('a suspension of its account takes effect on both within a second, and so does its end', async () => {
    const key = await createKey();
    const { accountId } = key.key;
    await warmUp(key);
    await expectToTakeEffect(() => accounts().suspend(accountId), key, isRejectedWith(403, 'account_suspended'));
    await expectToTakeEffect(() => accounts().resume(accountId), key, isCreated, 403);
  });

  it('its expiry takes effect on both within a second', async () => {
    const expiresAt = Date.now() + 1_500;
    const key = await createKey(new Date(expiresAt));
    await warmUp(key);
    const lastUsedAt = await useUntil(key, isRejectedWith(401, 'expired_api_key'));
    expect(lastUsedAt - expiresAt).toBeLessThan(MAX_PROPAGATION_MS);
  });

  it('it stops working on both within a second after the grace period of a rotation, and the new key works', async () => {
    const key = await createKey();
    await warmUp(key);
    const use = useUntil(key, isRejectedWith(401, 'expired_api_key'));
    const rotated = await keys().rotate(key.key.id, 1_500);
    await warmUp(rotated);
    expect((await use) - rotated.oldExpiresAt.getTime()).toBeLessThan(MAX_PROPAGATION_MS);
    await warmUp(rotated);
  });

  it('its revocation takes effect within a second on a replica that lost the database, and after the replica reconnects', async () => {
    const link = await Proxy.start(postgres.port);
    const replica = await Replica.start({
      ...env,
      DATABASE_URL: `postgres://postgres@127.0.0.1:${link.port}/postgres`,
    });
    const key = await createKey();
    const client = new Client(key.secret);
    const call = () => client.call(replica.port);
    await eventually(10_000, async () => (await call()).status === 200);
    link.freeze();
    await keys().revoke(key.key.id);
    const revokedAt = Date.now();
    const statuses = new Set<number>();
    while (Date.now() < revokedAt + 4_000) {
      const sentAt = Date.now();
      const { status } = await call();
      if (sentAt >= revokedAt + MAX_PROPAGATION_MS) {
        statuses.add(status);
      }
    }
    expect([...statuses]).toEqual([503]);
    link.thaw();
    await eventually(10_000, async () => {
      const { status } = await call();
      expect(status).not.toBe(200);
      return status === 401;
    });
  });

  it('a change takes effect even if a later one was committed first', async () => {
    const readChangesSince = async (snapshot: string) => {
      const [row] = await store.query<{ snapshot: string; account_ids: string[] }[]>(FIND_CHANGES_SINCE.text, [
        snapshot,
      ]);
      return { snapshot: row?.snapshot ?? '', accountIds: row?.account_ids };
    };
    const [early, late] = [await createKey(), await createKey()];
    const slow = await postgres.openSession();
    await slow.query(`BEGIN; UPDATE accounts SET plan = 'pro' WHERE id = ${early.key.accountId}`);
    const before = await store.query<{ now: string }[]>('SELECT pg_current_snapshot()::text AS now');
    await accounts().setPlan(late.key.accountId, 'pro');
    const between = await readChangesSince(before[0]?.now ?? '');
    expect(between.accountIds).toEqual([`${late.key.accountId}`]);
    await slow.query('COMMIT');
    expect((await readChangesSince(between.snapshot)).accountIds).toEqual([`${early.key.accountId}`]);
  });

  /** Creates a key that both replicas have banned. @returns the key and when the ban ends */
  const createBannedKey = async () => {
    const { id } = await accounts().create('Test', 'enterprise', { perMinute: 5, perDay: 1_000 });
    const key = await keys().create(id);
    const client = new Client(key.secret);
    let replies: Reply[] = [];
    await eventually(10_000, async () => {
      replies = await Promise.all(replicas.map(({ port }) => client.call(port)));
      return replies.every((reply) => getErrorCode(reply) === 'key_temporarily_banned');
    });
    return { key, until: Number(replies[0]?.headers['x-ratelimit-reset']) * 1_000 };
  };

  const expectUnbanTakesEffect = async () => {
    const { key } = await createBannedKey();
    const id = key.key.accountId;
    // With the larger plan, only the ban still rejects the key.
    await accounts().setPlan(id, 'business');
    await expectToTakeEffect(() => keys().unban(key.key.id), key, isCreated, 429);
  };

  it('its unban by an operator takes effect on both within a second', expectUnbanTakesEffect);

  it('the command line shows when its ban ends, and the rate limit usage of its account', async () => {
    const { key, until } = await createBannedKey();
    const { id, accountId } = key.key;
    const other = await keys().create(accountId);
    const revoked = await keys().create(accountId);
    await keys().revoke(revoked.key.id);
    const listed = await readJson<{ bannedUntil: string }[]>(`keys list ${accountId}`, env);
    expect(listed).toMatchObject([
      { id: Number(id), state: 'banned' },
      { id: Number(other.key.id), state: 'active', bannedUntil: null },
      { id: Number(revoked.key.id), state: 'revoked', bannedUntil: null },
    ]);
    const bannedUntil = listed[0]?.bannedUntil ?? '';
    expect(Math.ceil(Date.parse(bannedUntil) / 1_000) * 1_000).toBe(until);
    expect((await runCommand(`keys list ${accountId}`, env)).stdout).toContain(` banned until ${bannedUntil} `);

    const midnight = new Date().setUTCHours(24, 0, 0, 0);
    const shown = await readJson<{ minute: { endsAt: string } }>(`accounts show ${accountId}`, env);
    expect(shown).toMatchObject({
      minute: { used: 5, limit: 5 },
      day: { used: 5, limit: 1_000, endsAt: new Date(midnight).toISOString() },
    });
    expect(Date.parse(shown.minute.endsAt) - Date.now()).toBeGreaterThan(30_000);
    expect(Date.parse(shown.minute.endsAt) - Date.now()).toBeLessThanOrEqual(60_000);
    const { stdout, stderr } = await runCommand(`accounts show ${accountId}`, env);
    expect(stdout).toContain(`used: 5, limit: 5, endsAt: ${shown.minute.endsAt}`);
    expect(stderr).toBe('');
    // Reading the state does not change it.
    expect(await readJson(`accounts show ${accountId}`, env)).toEqual(shown);
    expect(await readJson(`keys list ${accountId}`, env)).toMatchObject(
      listed.map(({ bannedUntil }) => ({ bannedUntil })),
    );
    await keys().unban(id);
    expect(await readJson(`keys list ${accountId}`, env)).toMatchObject([
      { state: 'active', bannedUntil: null },
      {},
      {},
    ]);

    const unused = await accounts().create('Test', 'free');
    expect(await readJson(`accounts show ${unused.id}`, env)).toMatchObject({
      minute: { used: 0, limit: 60, endsAt: null },
      day: { used: 0, limit: 1_000, endsAt: new Date(midnight).toISOString() },
    });
  });

  it('the command line quickly reports what is unknown while Redis is unavailable or hangs, and shows the rest', async () => {
    const { id } = await accounts().create('Test', 'free');
    const issued = await keys().create(id);
    const expectPartialOutput = async () => {
      const startedAt = performance.now();
      const lines = [`keys list ${id}`, `accounts show ${id} --json`];
      const exits = await Promise.all(lines.map((line) => runCommand(line, env)));
      expect(performance.now() - startedAt).toBeLessThan(3_000);
      expect(exits.map(({ code }) => code)).toEqual([0, 0]);
      expect(exits[0]?.stdout).toContain(` pets_live_${issued.key.start}  write  active `);
      expect(exits[0]?.stderr).toMatch(/^note: The ban state of the keys is unknown: Redis is unavailable \(.+\)\.\n$/);
      expect(JSON.parse(exits[1]?.stdout ?? '')).toMatchObject({ id: Number(id), validKeys: 1 });
      expect(exits[1]?.stderr).toMatch(/^note: The rate limit usage is unknown: Redis is unavailable \(.+\)\.\n$/);
    };
    redis.freeze();
    await expectPartialOutput();
    redis.thaw();
    await redis.stop();
    await expectPartialOutput();
    await redis.start();
  });

  it('its unban by an operator takes effect on both within a second even while Redis is unavailable', async () => {
    await redis.stop();
    await expectUnbanTakesEffect();
    await redis.start();
  });

  it('last-used tracking does not delay requests', async () => {
    const [changing, other] = [await createKey(), await createKey()];
    const blocker = await postgres.openSession();
    await blocker.query(`BEGIN; SELECT 1 FROM api_keys WHERE id = ${changing.key.id} FOR UPDATE`);
    const at = new Date();
    await store.get(ApiKeyRepository).recordLastUsed([changing, other].map(({ key }) => ({ keyId: key.id, at })));
    const readLastUses = async ({ key }: IssuedKey) =>
      (await keys().list(key.accountId)).map(({ lastUsedAt }) => lastUsedAt);
    expect([await readLastUses(changing), await readLastUses(other)]).toEqual([[null], [at]]);
    await blocker.end();
  });

  it('its last use is stored when the replicas stop', async () => {
    const key = await createKey();
    const before = Date.now();
    await warmUp(key);
    const after = Date.now();
    await Promise.all(replicas.map(({ program }) => program.kill('SIGTERM')));
    const [stored] = await keys().list(key.key.accountId);
    expect(stored?.lastUsedAt?.getTime()).toBeGreaterThanOrEqual(before);
    expect(stored?.lastUsedAt?.getTime()).toBeLessThanOrEqual(after);
  });
});
