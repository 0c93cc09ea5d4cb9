import pg from 'pg';
import { generateSecret } from '../../src/auth/api-key-secret';
import { REMOVAL_LOCK } from '../../src/idempotency/persistence/postgres-idempotency-records';
import { Client, codeOf, concurrently, passed, type Reply } from './support/client';
import { Proxy } from './support/proxy';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

const CLIENTS = 64;

describe('While PostgreSQL is at fault', () => {
  let postgres: Server;
  let proxy: Proxy;
  let store: Store;
  let replica: Replica;
  let client: Client;

  beforeAll(async () => {
    postgres = await Server.postgres();
    proxy = await Proxy.to(postgres.port);
    store = await Store.open(postgres.url);
    replica = await Replica.start({ DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres` });
    client = new Client(await store.createUnlimitedKey());
    await concurrently(CLIENTS, 400, () => client.call(replica.port));
  });
  afterAll(async () => {
    client.close();
    await replica.program.kill('SIGKILL');
    await store.close();
    proxy.close();
    await postgres.remove();
  });

  /** Listings, creations (some with a key to retry by) and unknown API keys, all at once. */
  const everything = (times: number): Promise<Reply[]> => {
    const stranger = new Client(generateSecret('production'));
    return concurrently(CLIENTS, times, (index) => {
      switch (index % 4) {
        case 0:
          return stranger.call(replica.port);
        case 1:
          return client.add(replica.port, 'Rex', { 'idempotency-key': `fault-${index}` });
        case 2:
          return client.add(replica.port, 'Rex');
        default:
          return client.call(replica.port);
      }
    }).finally(() => {
      stranger.close();
    });
  };
  const serves = async () => (await client.add(replica.port, 'Mia')).status === 201;

  const answersSoonWhile = (fault: string, begin: () => Promise<void> | void, end: () => Promise<void> | void) => {
    it(`(${fault}) answers 503 within 2 s, is alive and not ready, and serves again within 2 s after it`, async () => {
      await eventually(2_000, serves);
      await begin();
      const replies = await everything(3 * CLIENTS);
      const [alive, ready] = [await fetch(`${replica.url}/healthz`), await replica.isReady()];
      await end();
      expect(await eventually(2_000, serves)).toBeLessThan(2_000);
      expect(await replica.isReady()).toBe(true);

      expect([alive.status, ready]).toEqual([200, false]);
      for (const reply of replies) {
        expect([reply.status, codeOf(reply), reply.headers['retry-after']]).toEqual([503, 'service_unavailable', '1']);
        expect(reply.headers).toMatchObject({
          'x-ratelimit-limit': expect.stringMatching(/^\d+$/) as string,
          'x-ratelimit-remaining': expect.stringMatching(/^\d+$/) as string,
          'x-ratelimit-reset': expect.stringMatching(/^\d+$/) as string,
          'x-request-id': expect.any(String) as string,
        });
      }
      expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
    });
  };

  answersSoonWhile(
    'it is down',
    () => postgres.stop(),
    () => postgres.start(),
  );
  answersSoonWhile(
    'it is frozen',
    () => {
      postgres.freeze();
    },
    () => {
      postgres.thaw();
    },
  );

  it('finds the way to another machine when the one before is gone without a word', async () => {
    await eventually(2_000, serves);
    await proxy.loseConnections();
    const replies = await everything(CLIENTS);
    expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
    expect(await eventually(2_000, serves)).toBeLessThan(2_000);
  });

  it('answers 500 requests at once in time all the same, and opens no more connections', async () => {
    postgres.freeze();
    const replies = await concurrently(500, 2_000, () => client.call(replica.port));
    postgres.thaw();
    expect(passed(replies)).toHaveLength(0);
    expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
    expect(await eventually(2_000, serves)).toBeLessThan(2_000);
    const [row] = await store.query<{ count: string }[]>(
      `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'petstore' AND pid <> pg_backend_pid()`,
    );
    // The pool's ten, beside those of the test itself.
    expect(Number(row?.count)).toBeLessThanOrEqual(20);
  });
});

describe('On a database of their own', () => {
  let postgres: Server;
  const replicas: Replica[] = [];

  beforeEach(async () => {
    postgres = await Server.postgres();
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map(({ program }) => program.kill('SIGKILL')));
    await postgres.remove();
  });

  it('replicas that start at once on an empty database migrate it once, and all serve', async () => {
    replicas.push(...(await Replica.startAll(4, { DATABASE_URL: postgres.url })));
    expect(await Promise.all(replicas.map((replica) => replica.isReady()))).toEqual([true, true, true, true]);
    const store = await Store.open(postgres.url);
    const names = await store.query<{ name: string }[]>('SELECT name FROM migrations');
    await store.close();
    expect(names.length).toBeGreaterThan(0);
    expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
  });

  it('a replica that starts while PostgreSQL is away is alive, not ready, and becomes ready by itself', async () => {
    await postgres.stop();
    const replica = await Replica.start({ DATABASE_URL: postgres.url });
    replicas.push(replica);
    expect((await fetch(`${replica.url}/healthz`)).status).toBe(200);
    expect(await replica.isReady()).toBe(false);
    await postgres.start();
    await eventually(3_000, () => replica.isReady());
  });

  it('expired idempotency records are removed by one replica at a time', async () => {
    const store = await Store.open(postgres.url);
    await store.createKey('free');
    await store.query(
      `INSERT INTO idempotency_records (account_id, key, fingerprint, created_at)
       SELECT 1, n::text, sha256('x'), now() - interval '25 hours' FROM generate_series(1, 10) n`,
    );
    const another = new pg.Client(postgres.url);
    await another.connect();
    await another.query('SELECT pg_advisory_lock($1)', [REMOVAL_LOCK]);
    expect(await store.removeExpiredRecords()).toBe(0);
    await another.end();
    expect(await store.removeExpiredRecords()).toBe(10);
    await store.close();
  });

  it('every acknowledged animal is there, unchanged, after a replica was killed under 16 writers', async () => {
    replicas.push(...(await Replica.startAll(2, { DATABASE_URL: postgres.url })));
    const store = await Store.open(postgres.url);
    const client = new Client(await store.createUnlimitedKey());
    const acknowledged: string[] = [];
    await concurrently(16, 1_000, async (index) => {
      const replica = replicas[index % 2];
      const reply = await client.add(replica?.port ?? 0, `Rex ${index}`).catch(() => undefined);
      if (reply?.status === 201) {
        acknowledged.push(reply.body);
      }
      if (acknowledged.length === 400) {
        void replicas[0]?.program.kill('SIGKILL');
      }
    });
    client.close();
    expect(acknowledged.length).toBeGreaterThan(600);
    const rows = await store.query<object[]>('SELECT id, name, category_id AS "categoryId", status FROM pets');
    await store.close();
    const stored = new Set(
      (rows as Record<string, string>[]).map((row) =>
        JSON.stringify({ ...row, id: Number(row.id), categoryId: Number(row.categoryId) }),
      ),
    );
    expect(acknowledged.filter((body) => !stored.has(body))).toEqual([]);
  });
});
