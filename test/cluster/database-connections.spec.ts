import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { POOL_OPTIONS } from '../../src/shared/persistence/session';
import { LISTS } from '../support/operations';
import { killPrograms } from '../support/process';
import { listStatuses, runConcurrently } from './support/client';
import { type Cluster, startCluster } from './support/cluster';
import { eventually, Replica } from './support/replica';

describe('The connection pool of a replica', () => {
  let { postgres, store, client } = {} as Cluster;

  beforeAll(async () => {
    ({ postgres, store, client } = await startCluster({ replicas: 0 }));
  });
  afterEach(killPrograms);

  const start = async (env: Record<string, string>) => {
    const replica = await Replica.start({ DATABASE_URL: postgres.url, ...env });
    await eventually(10_000, () => replica.isReady());
    return replica;
  };
  const countConnections = async (applicationName: string) => {
    const [row] = await store.query<{ count: number }[]>(
      'SELECT count(*)::int FROM pg_stat_activity WHERE application_name = $1',
      [applicationName],
    );
    return row?.count;
  };

  it('opens at most DATABASE_POOL_MAX connections, which serve concurrent reads and writes', async () => {
    await client.add((await start({})).port, 'Rex');
    const { port } = await start({ DATABASE_POOL_MAX: '5', DATABASE_URL: `${postgres.url}?application_name=small` });
    const paths = [...LISTS, '/v1/pets/1'];
    const replies = await runConcurrently(6, 90, (index) => {
      const path = paths[index % paths.length] ?? '';
      const headers = index % 4 === 0 ? { 'idempotency-key': `k-${index}` } : undefined;
      return index % 2 === 0 ? client.add(port, `Rex ${index}`, headers) : client.call(port, { path });
    });
    expect(listStatuses(replies)).toEqual([200, 201]);
    expect(await countConnections('small')).toBeLessThanOrEqual(5);
  });

  it('holds at most 3 connections 10 s after its last load', async () => {
    const { port } = await start({ DATABASE_URL: `${postgres.url}?application_name=idle` });
    const replies = await runConcurrently(64, 640, (index) =>
      index % 2 === 0 ? client.add(port, `Rex ${index}`) : client.call(port),
    );
    expect(listStatuses(replies)).toEqual([200, 201]);
    await eventually(10_000, async () => ((await countConnections('idle')) ?? 0) <= 3);
  });

  it('replaces connections at the end of their lifetime without failing a statement', async () => {
    expect(POOL_OPTIONS.maxLifetimeSeconds).toBe(600);
    const pool = new pg.Pool({ ...POOL_OPTIONS, connectionString: postgres.url, max: 3, maxLifetimeSeconds: 1 });
    const until = performance.now() + 2_500;
    const pids: number[] = [];
    const work = async () => {
      while (performance.now() < until) {
        const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        pids.push(rows[0]?.pid ?? 0);
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    await pool.end();
    expect(new Set(pids).size).toBeGreaterThanOrEqual(6);
  });

  it('writes and reads times without a zone in UTC, in any zone of the process', async () => {
    const script = `
      const { Pool } = require('pg');
      const { POOL_OPTIONS } = require('./dist/src/shared/persistence/session.js');
      const pool = new Pool({ ...POOL_OPTIONS, connectionString: process.argv[1] + '?options=-c%20TimeZone%3DUTC' });
      const sql = "SELECT $1::timestamp AS written, '2026-06-01 12:00:00.5'::timestamp AS stored, 'infinity'::timestamp AS endless";
      pool.query(sql, [new Date(0)]).then(({ rows }) => console.log(JSON.stringify(rows[0])), console.error).finally(() => pool.end())`;
    const env = { ...process.env, TZ: 'Asia/Kolkata' };
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, postgres.url], { env });
    expect(JSON.parse(stdout)).toEqual({
      written: '1970-01-01T00:00:00.000Z',
      stored: '2026-06-01T12:00:00.500Z',
      endless: expect.stringMatching(/^9999/) as string,
    });
  });

  it('repeats statements in silence after columns that they read have changed', async () => {
    const replica = await start({});
    const { id } = JSON.parse((await client.add(replica.port, 'Rex')).body) as { id: number };
    const paths = [`/v1/pets/${id}`, '/v1/pets?status=available', ...LISTS];
    const callAll = () =>
      runConcurrently(16, 32, (index) => client.call(replica.port, { path: paths[index % paths.length] ?? '' }));
    await callAll();
    await store.query(
      `ALTER TABLE pets ALTER COLUMN name TYPE varchar(300), ALTER COLUMN status TYPE varchar(20);
       ALTER TABLE accounts ALTER COLUMN plan TYPE varchar(50), ALTER COLUMN per_minute TYPE bigint`,
    );
    const replies = [...(await callAll()), await client.add(replica.port, 'Mia')];
    await store.query('UPDATE accounts SET per_minute = per_minute + 1');
    // Until the cached key has been looked up again.
    await eventually(5_000, async () => {
      replies.push(...(await callAll()));
      return replies.at(-1)?.headers['x-ratelimit-limit'] === '1000001';
    });
    await store.query(
      `ALTER TABLE pets ALTER COLUMN name TYPE text, ALTER COLUMN status TYPE text;
       ALTER TABLE accounts ALTER COLUMN plan TYPE text, ALTER COLUMN per_minute TYPE integer`,
    );
    expect(listStatuses(replies)).toEqual([200, 201]);
    expect(replica.program.stdout).not.toContain('prepared_statements_lost');
  });

  it('cancels a statement after DATABASE_STATEMENT_TIMEOUT_MS, one second by default', async () => {
    const [patient, usual] = await Promise.all([start({ DATABASE_STATEMENT_TIMEOUT_MS: '5000' }), start({})]);
    await store.query(
      `CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.5); RETURN NEW; END $$;
       CREATE TRIGGER take_time BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION take_time()`,
    );
    const [added, timedOut] = await Promise.all([client.add(patient.port, 'Rex'), client.add(usual.port, 'Rex')]);
    await store.query('DROP TRIGGER take_time ON pets; DROP FUNCTION take_time');
    expect([added.status, timedOut.status]).toEqual([201, 503]);
    expect(timedOut.ms).toBeLessThan(2_000);
  });
});
