import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type pg from 'pg';
import { generateSecret } from '../../src/auth/api-key-secret';
import { FIND_CHANGES_SINCE } from '../../src/auth/persistence/typeorm-api-key.repository';
import { REMOVAL_LOCK_KEY } from '../../src/idempotency/persistence/postgres-idempotency-records';
import { cleanUp } from '../support/cleanup';
import { findFreePort, listen } from '../support/process';
import { listStatuses, Client, getErrorCode, runConcurrently, filterSuccessful, type Reply } from './support/client';
import { type Cluster, startCluster } from './support/cluster';
import { startLoad } from './support/load';
import { startPrimaryCheck } from './support/primary-check';
import { Proxy } from './support/proxy';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

const CLIENTS = 64;

describe('While PostgreSQL fails', () => {
  let { postgres, client } = {} as Cluster;
  let proxy: Proxy;
  let replica: Replica;

  beforeAll(async () => {
    ({ postgres, client } = await startCluster({ replicas: 0 }));
    proxy = await Proxy.start(postgres.port);
    replica = await Replica.start({ DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres` });
    await runConcurrently(CLIENTS, 400, () => client.call(replica.port));
  });
  afterAll(cleanUp);

  /** Sends listings, creations (some with an Idempotency-Key) and unknown API keys concurrently. */
  const sendMixedLoad = (times: number): Promise<Reply[]> => {
    const stranger = new Client(generateSecret('production'));
    return runConcurrently(CLIENTS, times, (index) => {
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
    });
  };
  const canServe = async () => (await client.add(replica.port, 'Mia')).status === 201;

  const itFailsFastWhile = (fault: string, begin: () => Promise<void> | void, end: () => Promise<void> | void) => {
    it(`(${fault}) returns 503 within 2 s, is live but not ready, and recovers within 2 s`, async () => {
      await eventually(2_000, canServe);
      await begin();
      const replies = await sendMixedLoad(3 * CLIENTS);
      const [alive, ready] = [await fetch(`${replica.url}/healthz`), await replica.isReady()];
      await end();
      expect(await eventually(2_000, canServe)).toBeLessThan(2_000);
      expect(await replica.isReady()).toBe(true);

      expect([alive.status, ready]).toEqual([200, false]);
      for (const reply of replies) {
        expect([reply.status, getErrorCode(reply), reply.headers['retry-after']]).toEqual([
          503,
          'service_unavailable',
          '1',
        ]);
        expect(reply.headers).toMatchObject({
          'x-ratelimit-limit': expect.stringMatching(/^\d+$/) as string,
          'x-ratelimit-remaining': expect.stringMatching(/^\d+$/) as string,
          'x-ratelimit-reset': expect.stringMatching(/^\d+$/) as string,
          'ratelimit-policy': expect.stringMatching(/^"(minute|client-ip)";q=\d+;w=60/) as string,
          ratelimit: expect.stringMatching(/^"(minute|client-ip)";r=\d+;t=\d+/) as string,
          'x-request-id': expect.any(String) as string,
        });
      }
      expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
    });
  };

  itFailsFastWhile(
    'it is down',
    () => postgres.stop(),
    () => postgres.start(),
  );
  itFailsFastWhile(
    'it is frozen',
    () => {
      postgres.freeze();
    },
    () => {
      postgres.thaw();
    },
  );

  it('returns 503 within 2 s to a lone request of a replica that has just started', async () => {
    const fresh = await Replica.start({ DATABASE_URL: postgres.url });
    await eventually(10_000, () => fresh.isReady());
    postgres.freeze();
    const reply = await client.call(fresh.port);
    postgres.thaw();
    await fresh.program.kill('SIGKILL');
    expect(reply.status).toBe(503);
    expect(reply.ms).toBeLessThan(2_000);
  });

  it('reconnects to another machine when the previous one disappears without closing connections', async () => {
    await eventually(2_000, canServe);
    await proxy.dropData();
    const replies = await sendMixedLoad(CLIENTS);
    expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
    expect(await eventually(2_000, canServe)).toBeLessThan(2_000);
  });

  it('is ready when it is reachable again, although an earlier attempt to connect still hangs', async () => {
    await eventually(2_000, canServe);
    const silent = createServer();
    await proxy.switchTo(await listen(silent));
    await proxy.closeConnections('RST');
    const early = replica.isReady();
    await once(silent, 'connection');
    await proxy.switchTo(postgres.port);
    const late = replica.isReady();

    expect(await late).toBe(true);
    await early;
    await proxy.closeConnections('RST');
  });
});

describe('While some statements wait in PostgreSQL', () => {
  let { postgres, store, replica, client } = {} as Cluster;
  let otherSession: pg.Client;

  beforeEach(async () => {
    ({ postgres, store, replica, client } = await startCluster());
    otherSession = await postgres.openSession();
  });
  afterEach(cleanUp);

  it('a 5 s lock on the table of animals fails no key lookup and no readiness probe', async () => {
    await otherSession.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const sendUnknownKey = () => {
      const unknown = new Client(generateSecret('production'));
      return unknown.call(replica.port).finally(() => {
        unknown.close();
      });
    };
    const loads = [
      startLoad(1, sendUnknownKey),
      startLoad(1, () => client.call(replica.port, { path: '/readyz' })),
      startLoad(32, (_, count) => {
        switch (count % 4) {
          case 0:
            return client.call(replica.port);
          case 1:
            return client.call(replica.port, { path: '/v1/pets/1' });
          case 2:
            return client.add(replica.port, 'Rex');
          default:
            return client.add(replica.port, 'Rex', { 'idempotency-key': randomUUID() });
        }
      }),
    ];
    await otherSession.query('SELECT pg_sleep(5)');
    const [lookups = [], probes = [], animals = []] = await Promise.all(loads.map((load) => load.end()));
    await otherSession.query('ROLLBACK');

    expect(listStatuses(animals)).toEqual([503]);
    expect(Math.max(...animals.map(({ ms }) => ms))).toBeLessThan(2_000);
    expect(listStatuses(probes)).toEqual([200]);
    // After 60 failures, the client IP address gets 429 without a key lookup.
    expect(listStatuses(lookups)).toEqual([401, 429]);
    expect(lookups.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(await eventually(1_000, async () => (await client.call(replica.port)).status === 200)).toBeLessThan(1_000);
  });

  it('500 concurrent listings that wait for a lock return 503 in time, and the replica prints no warning', async () => {
    await otherSession.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const replies = await runConcurrently(500, 500, () => client.call(replica.port));
    await otherSession.query('ROLLBACK');
    expect(listStatuses(replies)).toEqual([503]);
    expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
    expect(replica.program.stderr).toBe('');
    expect(await eventually(1_000, async () => (await client.call(replica.port)).status === 200)).toBeLessThan(1_000);
  });

  it('the locks of a replica that disappears during a transaction are released within 5 s', async () => {
    const second = await Replica.start({ DATABASE_URL: postgres.url });
    const headers = { 'idempotency-key': 'vanished' };
    await otherSession.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const lost = client.add(replica.port, 'Rex', headers).catch(() => undefined);
    await eventually(1_000, async () => {
      const [row] = await store.query<{ count: string }[]>(
        `SELECT count(*) FROM pg_stat_activity WHERE query ~ 'INSERT INTO "?pets' AND wait_event_type = 'Lock'`,
      );
      return row?.count === '1';
    });
    process.kill(replica.program.pid, 'SIGSTOP');
    await otherSession.query('ROLLBACK');
    expect(
      await eventually(6_000, async () => (await client.add(second.port, 'Rex', headers)).status === 201),
    ).toBeLessThan(5_000);
    process.kill(replica.program.pid, 'SIGKILL');
    await lost;
    const [row] = await store.query<{ count: string }[]>('SELECT count(*) FROM pets');
    expect(row?.count).toBe('1');
  });

  it('TCP keepalive monitors every idle connection, so that it is closed when its server disappears', async () => {
    const port = postgres.port.toString(16).toUpperCase().padStart(4, '0');
    const readTimers = async () => {
      const lines = (await readFile(`/proc/${replica.program.pid}/net/tcp`, 'utf8')).split('\n');
      const inodes = new Set(
        readdirSync(`/proc/${replica.program.pid}/fd`)
          .map((fd) => readlinkSync(`/proc/${replica.program.pid}/fd/${fd}`))
          .map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]),
      );
      const fields = lines.map((line) => line.trim().split(/\s+/));
      return fields
        .filter(([, , remote, , , , , , , inode]) => remote?.endsWith(`:${port}`) && inodes.has(inode))
        .map(([, , , , , timer]) => timer?.slice(0, 2));
    };
    await client.call(replica.port);
    // Timer 02 is the keepalive timer.
    await eventually(2_000, async () => {
      const all = await readTimers();
      return all.length > 0 && all.every((timer) => timer === '02');
    });
  });
});

describe('With a PostgreSQL standby', () => {
  let { postgres: primary, store, client } = {} as Cluster;
  let standby: Server;

  beforeEach(async () => {
    ({ postgres: primary, store, client } = await startCluster({ replicas: 0 }));
    standby = await primary.startStandby();
    // From now on, a write is acknowledged when both servers have it. The standby does not inherit this setting.
    await store.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await store.query('SELECT pg_reload_conf()');
    await eventually(5_000, async () => {
      const rows = await store.query<object[]>(`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`);
      return rows.length === 1;
    });
  });
  afterEach(cleanUp);

  const startWriting = (port: number) =>
    startLoad(8, (_, count) => client.add(port, 'Rex', count % 2 === 0 ? { 'idempotency-key': randomUUID() } : {}));

  it('a host name that resolves to the standby for 3 s causes 503 and failed readiness; recovery is immediate', async () => {
    const proxy = await Proxy.start(primary.port);
    const replica = await Replica.start({ DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres` });
    expect((await client.add(replica.port, 'Rex')).status).toBe(201);

    await proxy.switchTo(standby.port);
    await proxy.closeConnections('RST');
    const load = startWriting(replica.port);
    await (await primary.openSession()).query('SELECT pg_sleep(3)');
    const repliesDuringFailover = await load.end();
    const ready = await replica.isReady();
    await proxy.switchTo(primary.port);

    expect(listStatuses(repliesDuringFailover)).toEqual([503]);
    expect(ready).toBe(false);
    expect(await eventually(2_000, async () => (await client.add(replica.port, 'Rex')).status === 201)).toBeLessThan(
      2_000,
    );
    const later = await runConcurrently(32, 200, () => client.add(replica.port, 'Rex'));
    expect(listStatuses(later)).toEqual([201]);
    expect(await replica.isReady()).toBe(true);
  });

  it('a pooler in transaction mode that points to the standby causes 503, and recovery is immediate', async () => {
    const proxy = await Proxy.start(primary.port);
    const pooler = await Server.startPgbouncer(proxy);
    const replica = await Replica.start({
      DATABASE_URL: `${pooler.url}/postgres`,
      DATABASE_POOLER_MODE: 'transaction',
    });
    expect((await client.add(replica.port, 'Rex')).status).toBe(201);
    await proxy.switchTo(standby.port);
    await proxy.closeConnections('RST');
    const replies = await runConcurrently(8, 100, (index) =>
      client.add(replica.port, 'Rex', index % 2 === 0 ? { 'idempotency-key': randomUUID() } : {}),
    );
    expect(listStatuses(replies)).toEqual([503]);
    await proxy.switchTo(primary.port);
    await proxy.closeConnections('RST');
    await eventually(3_000, async () => (await client.add(replica.port, 'Rex')).status === 201);
  });

  it('a connection that becomes read-only is replaced: writes return 503, then succeed again', async () => {
    const replica = await Replica.start({ DATABASE_URL: primary.url });
    await store.query('ALTER SYSTEM SET default_transaction_read_only = on');
    await store.query('SELECT pg_reload_conf()');
    await eventually(2_000, async () => {
      const reply = await client.add(replica.port, 'Rex');
      expect([201, 503]).toContain(reply.status);
      return reply.status === 503;
    });
    await store.query('ALTER SYSTEM RESET default_transaction_read_only');
    await store.query('SELECT pg_reload_conf()');
    await eventually(2_000, async () => {
      const reply = await client.add(replica.port, 'Rex', { 'idempotency-key': randomUUID() });
      expect([201, 503]).toContain(reply.status);
      return reply.status === 201;
    });
  });

  it('a failover behind HAProxy under load takes less than 3 s, loses no acknowledged write, and returns no 500', async () => {
    const checks = await Promise.all([primary, standby].map(({ url }) => startPrimaryCheck(url)));
    const port = await findFreePort();
    const haproxy = await Server.startHaproxy(
      port,
      `
defaults
  mode tcp
  timeout connect 500ms
  timeout check 2s
  timeout client 1m
  timeout server 1m
listen postgres
  bind 127.0.0.1:${port}
  option httpchk GET /
  default-server inter 100ms fall 2 rise 1 on-marked-down shutdown-sessions
  server a 127.0.0.1:${primary.port} check port ${checks[0]}
  server b 127.0.0.1:${standby.port} check port ${checks[1]}
`,
    );
    const replica = await Replica.start({ DATABASE_URL: `${haproxy.url}/postgres` });
    await eventually(5_000, async () => (await client.add(replica.port, 'Rex')).status === 201);

    let lastSuccess = performance.now();
    let outage = 0;
    const load = startWriting(replica.port);
    const watch = startLoad(1, async () => {
      if ((await client.add(replica.port, 'Watch')).status === 201) {
        outage = Math.max(outage, performance.now() - lastSuccess);
        lastSuccess = performance.now();
      }
    });
    await eventually(10_000, () => filterSuccessful(load.results).length > 50);
    await primary.stop();
    const promoter = await standby.openSession();
    await promoter.query('SELECT pg_promote()');
    const promotedAt = performance.now();
    await eventually(5_000, () => lastSuccess > promotedAt + 500);
    const [replies] = await Promise.all([load.end(), watch.end()]);

    expect([201, 503]).toEqual(expect.arrayContaining(listStatuses(replies)));
    expect(outage).toBeLessThan(3_000);
    expect(await replica.isReady()).toBe(true);
    const { rows } = await promoter.query<{ id: string }>('SELECT id FROM pets');
    const stored = new Set(rows.map(({ id }) => Number(id)));
    const acknowledged = filterSuccessful(replies).map(({ body }) => (JSON.parse(body) as { id: number }).id);
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  });
});

describe('On a separate PostgreSQL server', () => {
  let postgres: Server;

  beforeEach(async () => {
    postgres = await Server.startPostgres();
  });
  afterEach(cleanUp);

  it('replicas that start concurrently on an empty database migrate it once, and all serve', async () => {
    const replicas = await Replica.startAll(4, { DATABASE_URL: postgres.url });
    expect(await Promise.all(replicas.map((replica) => replica.isReady()))).toEqual([true, true, true, true]);
    const store = await Store.open(postgres.url);
    const names = await store.query<{ name: string }[]>('SELECT name FROM migrations');
    expect(names.length).toBeGreaterThan(0);
    expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
  });

  it('a replica that starts while PostgreSQL is unavailable is live but not ready, and becomes ready by itself', async () => {
    await postgres.stop();
    const replica = await Replica.start({ DATABASE_URL: postgres.url });
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
    const otherSession = await postgres.openSession();
    await otherSession.query('SELECT pg_advisory_lock($1)', [REMOVAL_LOCK_KEY]);
    expect(await store.removeExpiredRecords()).toBe(0);
    await otherSession.end();
    expect(await store.removeExpiredRecords()).toBe(10);
  });
});

it('After PostgreSQL has recovered from a crash, every key is looked up again: it assigns transaction IDs again', async () => {
  const { postgres } = await startCluster({ replicas: 0 });
  const readState = async () => {
    const session = await postgres.openSession();
    session.on('error', () => undefined);
    const { rows } = await session.query<Record<'pid' | 'startedAt' | 'source', string>>(
      `SELECT pg_backend_pid() AS pid, pg_postmaster_start_time()::text AS "startedAt", source
       FROM (${FIND_CHANGES_SINCE.text}) AS changes`,
      [null],
    );
    return rows[0];
  };
  const before = await readState();
  process.kill(Number(before?.pid), 'SIGKILL');
  let after: typeof before;
  await eventually(10_000, async () => {
    after = await readState().catch(() => undefined);
    return after !== undefined && after.pid !== before?.pid;
  });
  expect(after?.startedAt).toBe(before?.startedAt);
  expect(after?.source).not.toBe(before?.source);
  await cleanUp();
});
