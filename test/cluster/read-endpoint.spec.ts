import type pg from 'pg';
import { killPrograms, Program } from '../support/process';
import { listStatuses, runConcurrently, type Reply } from './support/client';
import { type Cluster, startCluster } from './support/cluster';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';

interface Animal {
  readonly id: number;
  readonly name: string;
}

describe('Listings from DATABASE_READ_URL', () => {
  let { postgres: primary, store, client } = {} as Cluster;
  let standby: Server;
  let onStandby: pg.Client;

  beforeAll(async () => {
    ({ postgres: primary, store, client } = await startCluster({ replicas: 0 }));
    await store.query(
      `INSERT INTO pets (name, category_id, status) SELECT 'Rex', 1, 'available' FROM generate_series(1, 50)`,
    );
    standby = await primary.startStandby();
  });
  beforeEach(async () => {
    onStandby = await standby.openSession();
  });
  afterEach(killPrograms);

  const start = async (env: Record<string, string> = {}) => {
    const replica = await Replica.start({ DATABASE_URL: primary.url, DATABASE_READ_URL: standby.url, ...env });
    await eventually(10_000, () => replica.isReady());
    return replica;
  };
  const isEnabled = async ({ url }: Replica) => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return /^petstore_database_read_endpoint_enabled 1$/m.test(metrics);
  };
  const isDisabled = async (replica: Replica) => !(await isEnabled(replica));
  const startUsing = async (env?: Record<string, string>) => {
    const replica = await start(env);
    await eventually(10_000, () => isEnabled(replica));
    return replica;
  };
  const add = async ({ port }: Replica) => JSON.parse((await client.add(port, 'Bella')).body) as Animal;
  const list = async ({ port }: Replica, after = 0) => {
    // Cursors are opaque, so it reads all pages from the first one.
    const animals: Animal[] = [];
    for (let path: string | undefined = '/v1/pets?limit=100'; path !== undefined;) {
      const { body, headers }: Reply = await client.call(port, { path });
      animals.push(...(JSON.parse(body) as Animal[]));
      path = parseNextPath(headers.link);
    }
    return animals.filter(({ id }) => id > after);
  };
  const setReplay = (change: 'pause' | 'resume') => onStandby.query(`SELECT pg_wal_replay_${change}()`);
  const readEvents = ({ program }: Replica) =>
    [...program.stdout.matchAll(/"event\.action":"(read_endpoint_\w+)"/g)].map(([, event]) => event);

  it('come from the standby, and everything else comes from the primary', async () => {
    const replica = await startUsing({ DATABASE_READ_MAX_LAG_MS: '60000' });
    await setReplay('pause');
    const { id } = await add(replica);
    expect(await list(replica, id - 1)).toEqual([]);
    expect((await client.call(replica.port, { path: `/v1/pets/${id}` })).status).toBe(200);
    await setReplay('resume');
    await eventually(5_000, async () => (await list(replica, id - 1)).length === 1);
  });

  it('repeat and skip no animal when the pages come from different servers', async () => {
    const [stale, fresh] = await Promise.all([
      startUsing({ DATABASE_READ_MAX_LAG_MS: '60000' }),
      start({ DATABASE_READ_URL: '' }),
    ]);
    await setReplay('pause');
    await add(fresh);
    const expected = (await list(stale)).map(({ id }) => id);
    const found: number[] = [];
    let page = 0;
    for (let path: string | undefined = '/v1/pets?limit=7'; path !== undefined; page++) {
      const { body, headers }: Reply = await client.call((page % 2 === 0 ? fresh : stale).port, { path });
      found.push(...(JSON.parse(body) as Animal[]).map(({ id }) => id));
      path = parseNextPath(headers.link);
    }
    await setReplay('resume');
    expect(found.slice(0, expected.length)).toEqual(expected);
    expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
  });

  it('come from the primary while the standby lags by more than DATABASE_READ_MAX_LAG_MS, and from the standby afterwards', async () => {
    const replica = await startUsing({ DATABASE_READ_MAX_LAG_MS: '500' });
    await setReplay('pause');
    const { id } = await add(replica);
    const tookMs = await eventually(5_000, async () => (await list(replica, id - 1)).length === 1);
    expect(tookMs).toBeLessThan(1_500);
    await eventually(1_000, () => isDisabled(replica));
    await setReplay('resume');
    await eventually(5_000, () => isEnabled(replica));
    expect((await list(replica, id - 1)).map(({ name }) => name)).toEqual(['Bella']);
    await eventually(1_000, () => readEvents(replica).length === 3);
    expect(readEvents(replica)).toEqual(['read_endpoint_enabled', 'read_endpoint_disabled', 'read_endpoint_enabled']);
  });

  it('keep coming from the standby while nothing is written', async () => {
    const replica = await startUsing({ DATABASE_READ_MAX_LAG_MS: '500' });
    // After the switch, the WAL positions of the two servers differ by a page header.
    await store.query('SELECT pg_switch_wal()');
    for (const end = performance.now() + 1_500; performance.now() < end;) {
      await client.call(replica.port);
    }
    expect(readEvents(replica)).toEqual(['read_endpoint_enabled']);
  });

  it('continue to come from the standby after a lock on the table, which makes both servers fail', async () => {
    const replica = await startUsing();
    const session = await primary.openSession();
    await session.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    // Another transaction sends the lock to the standby.
    await store.createKey('free');
    const locks = `SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'pets'::regclass`;
    await eventually(5_000, async () => (await onStandby.query(locks)).rowCount === 1);
    const statuses = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      statuses.push((await client.call(replica.port)).status);
    }
    await session.end();
    expect(statuses).toEqual([503, 503, 503]);
    await eventually(5_000, async () => (await client.call(replica.port)).status === 200);
    expect(readEvents(replica)).toEqual(['read_endpoint_enabled']);
  });

  it.each(['is killed', 'hangs'])(
    'all succeed when the standby %s under load, and use it again afterwards',
    async (failure) => {
      const isKilled = failure === 'is killed';
      const replica = await startUsing();
      const replies = await runConcurrently(16, 3_000, async (index) => {
        if (index === 1_000 && isKilled) {
          await standby.stop();
        } else if (index === 1_000) {
          standby.freeze();
        }
        return client.call(replica.port);
      });
      expect(listStatuses(replies)).toEqual([200]);
      expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
      await eventually(5_000, () => isDisabled(replica));
      if (isKilled) {
        await standby.start();
      } else {
        standby.thaw();
      }
      await eventually(10_000, () => isEnabled(replica));
    },
  );

  it('come from the primary when the endpoint is unreachable at startup', async () => {
    const replica = await start({ DATABASE_READ_URL: 'postgres://postgres@127.0.0.1:1/postgres' });
    await eventually(5_000, () => readEvents(replica).length === 1);
    expect(readEvents(replica)).toEqual(['read_endpoint_disabled']);
    expect((await client.call(replica.port)).status).toBe(200);
  });

  it.each([
    ['the primary', () => Promise.resolve(primary.url)],
    ['a standby, but of another database', () => Promise.resolve(`${standby.url}/template1`)],
    [
      'no standby of the primary any more',
      async () => {
        const promoted = await primary.startStandby();
        await (await promoted.openSession()).query('SELECT pg_promote()');
        return promoted.url;
      },
    ],
  ])('come from the primary when the endpoint is %s', async (_, getUrl) => {
    const replica = await start({ DATABASE_READ_URL: await getUrl() });
    await eventually(5_000, () => readEvents(replica).length === 1);
    expect(readEvents(replica)).toEqual(['read_endpoint_disabled']);
    const { id } = await add(replica);
    expect(await list(replica, id - 1)).toHaveLength(1);
  });

  it('come from a standby behind PgBouncer in transaction mode', async () => {
    const pooler = await Server.startPgbouncer(standby, 'transaction');
    const replica = await startUsing({
      DATABASE_READ_URL: `${pooler.url}/postgres`,
      DATABASE_POOLER_MODE: 'transaction',
    });
    const replies = await runConcurrently(8, 200, () => client.call(replica.port));
    expect(listStatuses(replies)).toEqual([200]);
    expect(readEvents(replica)).toEqual(['read_endpoint_enabled']);
  });

  it('need DATABASE_URL', async () => {
    const { code, stderr } = await new Program('main.js', [], { DATABASE_READ_URL: standby.url }).exit;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('DATABASE_READ_URL has no effect without DATABASE_URL'),
    ]);
  });
});

/** Parses the path of the next page from a Link header. */
function parseNextPath(link = ''): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(link)?.[1];
}
