import { AccountsService, type IssuedKey, KeysService } from '../../src/auth';
import { ApiKeyRepository } from '../../src/auth/domain/api-key.repository';
import { FIND_CHANGES_SINCE } from '../../src/auth/persistence/typeorm-api-key.repository';
import { runCommand, readJson } from '../support/command-line';
import { findFreePort } from '../support/process';
import { type Call, Client, getErrorCode, runConcurrently, type Reply } from './support/client';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';

/** An operator's change takes effect on every replica within this time. */
const MAX_PROPAGATION_MS = 1_000;

describe('While a key is in use on two replicas', () => {
  let { postgres, redis, replicas, store, env, getPort } = {} as ClusterWithRedis;

  beforeAll(async () => {
    const settings = { APP_ENV: 'production', DRAIN_SECONDS: '0' };
    ({ postgres, redis, replicas, store, env, getPort } = await startClusterWithRedis({ replicas: 2, env: settings }));
  });

  const createKey = async (expiresAt?: Date) => {
    const account = await store.get(AccountsService).create('Test', 'business');
    return store.get(KeysService).create(account.id, expiresAt);
  };

  /** Uses a key on each replica until the response changes. @returns when the last request before the change was sent, if any */
  const useUntil = async (
    { secret }: IssuedKey,
    isChanged: (reply: Reply) => boolean,
    statusBefore = 200,
    call: Call = {},
  ): Promise<number> => {
    const client = new Client(secret);
    const lastTimes = await Promise.all(
      replicas.map(async ({ port }) => {
        let lastSentAt = -Infinity;
        await eventually(10_000, async () => {
          const sentAt = Date.now();
          const reply = await client.call(port, call);
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
  const isRejectedWith = (code: string) => (reply: Reply) => reply.status === 401 && getErrorCode(reply) === code;
  /** Uses the key on each replica, so that each one caches it. */
  const warmUp = (key: IssuedKey) => useUntil(key, ({ status }) => status === 200);

  it('its revocation takes effect on both within a second', async () => {
    const key = await createKey();
    await warmUp(key);
    const use = useUntil(key, isRejectedWith('invalid_api_key'));
    await store.get(KeysService).revoke(key.key.id);
    const revokedAt = Date.now();
    expect((await use) - revokedAt).toBeLessThan(MAX_PROPAGATION_MS);
  });

  it('a new plan of its account takes effect on both within a second', async () => {
    const key = await createKey();
    await warmUp(key);
    const use = useUntil(key, ({ headers }) => headers['x-ratelimit-limit'] === '300');
    await store.get(AccountsService).setPlan(key.key.accountId, 'pro');
    const setAt = Date.now();
    expect((await use) - setAt).toBeLessThan(MAX_PROPAGATION_MS);
  });

  it('a new scope takes effect on both within a second', async () => {
    const key = await createKey();
    const isForbidden = (reply: Reply) => reply.status === 403 && getErrorCode(reply) === 'insufficient_scope';
    const creation = { method: 'POST', body: { name: 'Rex', categoryId: 3 } };
    await useUntil(key, ({ status }) => status === 201, 201, creation);
    const use = useUntil(key, isForbidden, 201, creation);
    await store.get(KeysService).setScope(key.key.id, 'read');
    const setAt = Date.now();
    expect((await use) - setAt).toBeLessThan(MAX_PROPAGATION_MS);
    await warmUp(key);
  });

  it('a suspension of its account takes effect on both within a second, and so does its end', async () => {
    const key = await createKey();
    await warmUp(key);
    const isSuspended = (reply: Reply) => reply.status === 403 && getErrorCode(reply) === 'account_suspended';
    const use = useUntil(key, isSuspended);
    await store.get(AccountsService).suspend(key.key.accountId);
    const suspendedAt = Date.now();
    expect((await use) - suspendedAt).toBeLessThan(MAX_PROPAGATION_MS);
    const useAgain = useUntil(key, ({ status }) => status === 200, 403);
    await store.get(AccountsService).resume(key.key.accountId);
    const resumedAt = Date.now();
    expect((await useAgain) - resumedAt).toBeLessThan(MAX_PROPAGATION_MS);
  });

  it('its expiry takes effect on both within a second', async () => {
    const expiresAt = Date.now() + 1_500;
    const key = await createKey(new Date(expiresAt));
    await warmUp(key);
    expect((await useUntil(key, isRejectedWith('expired_api_key'))) - expiresAt).toBeLessThan(MAX_PROPAGATION_MS);
  });

  it('it stops working on both within a second after the grace period of a rotation, and the new key works', async () => {
    const key = await createKey();
    await warmUp(key);
    const use = useUntil(key, isRejectedWith('expired_api_key'));
    const rotated = await store.get(KeysService).rotate(key.key.id, 1_500);
    await warmUp(rotated);
    expect((await use) - rotated.oldExpiresAt.getTime()).toBeLessThan(MAX_PROPAGATION_MS);
    await warmUp(rotated);
  });

  it('its revocation takes effect within a second on a replica that lost the database, and after the replica reconnects', async () => {
    const port = await findFreePort();
    const link = await Server.startHaproxy(
      port,
      `
defaults
  mode tcp
  timeout connect 500ms
  timeout client 1h
  timeout server 1h
listen postgres
  bind 127.0.0.1:${port}
  server postgres 127.0.0.1:${postgres.port}
`,
    );
    const replica = await Replica.start({ ...env, DATABASE_URL: `${link.url}/postgres` });
    const key = await createKey();
    const client = new Client(key.secret);
    const call = () => client.call(replica.port);
    await eventually(10_000, async () => (await call()).status === 200);
    link.freeze();
    await store.get(KeysService).revoke(key.key.id);
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
    await store.get(AccountsService).setPlan(late.key.accountId, 'pro');
    const between = await readChangesSince(before[0]?.now ?? '');
    expect(between.accountIds).toEqual([`${late.key.accountId}`]);
    await slow.query('COMMIT');
    expect((await readChangesSince(between.snapshot)).accountIds).toEqual([`${early.key.accountId}`]);
  });

  /** Creates a key that both replicas have banned. @returns the key and when the ban ends */
  const createBannedKey = async () => {
    const { id } = await store.get(AccountsService).create('Test', 'enterprise', { perMinute: 5, perDay: 1_000 });
    const key = await store.get(KeysService).create(id);
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
    await store.get(AccountsService).setPlan(id, 'business');
    const use = useUntil(key, ({ status }) => status === 200, 429);
    await store.get(KeysService).unban(key.key.id);
    const unbannedAt = Date.now();
    expect((await use) - unbannedAt).toBeLessThan(MAX_PROPAGATION_MS);
  };

  it('its unban by an operator takes effect on both within a second', expectUnbanTakesEffect);

  it('the command line shows when its ban ends, and the rate limit usage of its account', async () => {
    const { key, until } = await createBannedKey();
    const { id, accountId } = key.key;
    const other = await store.get(KeysService).create(accountId);
    const revoked = await store.get(KeysService).create(accountId);
    await store.get(KeysService).revoke(revoked.key.id);
    const keys = await readJson<{ bannedUntil: string }[]>(`keys list ${accountId}`, env);
    expect(keys).toMatchObject([
      { id: Number(id), state: 'banned' },
      { id: Number(other.key.id), state: 'active', bannedUntil: null },
      { id: Number(revoked.key.id), state: 'revoked', bannedUntil: null },
    ]);
    const bannedUntil = keys[0]?.bannedUntil ?? '';
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
      keys.map(({ bannedUntil }) => ({ bannedUntil })),
    );
    await store.get(KeysService).unban(id);
    expect(await readJson(`keys list ${accountId}`, env)).toMatchObject([
      { state: 'active', bannedUntil: null },
      {},
      {},
    ]);

    const unused = await store.get(AccountsService).create('Test', 'free');
    expect(await readJson(`accounts show ${unused.id}`, env)).toMatchObject({
      minute: { used: 0, limit: 60, endsAt: null },
      day: { used: 0, limit: 1_000, endsAt: new Date(midnight).toISOString() },
    });
  });

  it('the command line quickly reports what is unknown while Redis is unavailable or hangs, and shows the rest', async () => {
    const { id } = await store.get(AccountsService).create('Test', 'free');
    const issued = await store.get(KeysService).create(id);
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

  it('a plan that only a newer version knows costs only its account, also if many requests arrive together', async () => {
    const [key, other] = [await createKey(), await createKey()];
    await store.query('ALTER TABLE accounts DROP CONSTRAINT accounts_plan_check');
    await warmUp(key);
    await warmUp(other);
    const use = useUntil(other, ({ status }) => status === 503);
    await store.query(`UPDATE accounts SET plan = 'starter' WHERE id = $1`, [`${other.key.accountId}`]);
    await use;
    const [client, otherClient] = [new Client(key.secret), new Client(other.secret)];
    const statuses = { served: new Set<number>(), unserved: new Set<number>() };
    await runConcurrently(500, 50, async (index) => {
      const port = getPort(index);
      const [served, unserved] = await Promise.all([client.call(port), otherClient.call(port)]);
      statuses.served.add(served.status);
      statuses.unserved.add(unserved.status);
      expect(unserved.headers['retry-after']).toBe('1');
    });
    expect([[...statuses.served], [...statuses.unserved]]).toEqual([[200], [503]]);
    for (const { program } of replicas) {
      await eventually(5_000, () => program.stdout.includes('"unknown_value"'));
      expect(program.stdout.match(/"unknown_value"|Cannot destructure|TypeError/g)).toEqual(['"unknown_value"']);
    }
    await store.query(`UPDATE accounts SET plan = 'business' WHERE id = $1`, [`${other.key.accountId}`]);
    // None of the 500 requests was counted.
    await useUntil(other, ({ headers }) => Number(headers['x-ratelimit-remaining']) > 500, 503);
  });

  it('last-used tracking does not delay requests', async () => {
    const [changing, other] = [await createKey(), await createKey()];
    const blocker = await postgres.openSession();
    await blocker.query(`BEGIN; SELECT 1 FROM api_keys WHERE id = ${changing.key.id} FOR UPDATE`);
    const at = new Date();
    await store.get(ApiKeyRepository).recordLastUsed([changing, other].map(({ key }) => ({ keyId: key.id, at })));
    const readLastUses = async ({ key }: IssuedKey) =>
      (await store.get(KeysService).list(key.accountId)).map(({ lastUsedAt }) => lastUsedAt);
    expect([await readLastUses(changing), await readLastUses(other)]).toEqual([[null], [at]]);
    await blocker.end();
  });

  it('its last use is stored when the replicas stop', async () => {
    const key = await createKey();
    const before = Date.now();
    await warmUp(key);
    const after = Date.now();
    await Promise.all(replicas.map(({ program }) => program.kill('SIGTERM')));
    const [stored] = await store.get(KeysService).list(key.key.accountId);
    expect(stored?.lastUsedAt?.getTime()).toBeGreaterThanOrEqual(before);
    expect(stored?.lastUsedAt?.getTime()).toBeLessThanOrEqual(after);
  });
});
