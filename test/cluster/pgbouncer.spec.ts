import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { AccountsService } from '../../src/auth';
import { cleanUp } from '../support/cleanup';
import { runCommand, readJson } from '../support/command-line';
import { loadExamples } from '../support/examples';
import { LISTS, OPERATIONS, findSuccessStatus } from '../support/operations';
import { Client, runConcurrently } from './support/client';
import { eventually, Replica } from './support/replica';
import { findProgram, Server } from './support/servers';
import { Store } from './support/store';

const REPLICAS = 3;

describe.each([
  // Each connection of a replica or a command occupies a server connection.
  { mode: 'session', poolSize: 40 },
  // The replicas share far fewer server connections than they open.
  { mode: 'transaction', poolSize: 6 },
] as const)('Three replicas behind PgBouncer in $mode mode', ({ mode, poolSize }) => {
  let [postgres, pooler] = [] as unknown as [Server, Server];
  let store: Store;
  let replicas: Replica[];
  let client: Client;
  let env: Record<string, string>;

  beforeAll(async () => {
    postgres = await Server.startPostgres();
    pooler = await Server.startPgbouncer(postgres, mode, poolSize);
    env = {
      APP_ENV: 'production',
      DATABASE_URL: `${pooler.url}/petstore`,
      DATABASE_MIGRATION_URL: `${postgres.url}/petstore`,
      DATABASE_POOLER_MODE: mode,
      DRAIN_SECONDS: '0',
    };
    const operator = await postgres.openSession();
    await operator.query('CREATE DATABASE "petstore"');
    if (mode === 'transaction') {
      // As described in docs/operating.md.
      await operator.query(`
        CREATE ROLE app LOGIN SUPERUSER;
        ALTER ROLE app SET statement_timeout = '900ms';
        ALTER ROLE app SET lock_timeout = '500ms';
        ALTER ROLE app SET idle_in_transaction_session_timeout = '3s'`);
      env.DATABASE_URL = `postgres://app@127.0.0.1:${pooler.port}/petstore`;
    }
    replicas = await Replica.startAll(REPLICAS, env);
    await eventually(20_000, async () => (await Promise.all(replicas.map((each) => each.isReady()))).every(Boolean));
    store = await Store.open(`${postgres.url}/petstore`);
    client = new Client(await store.createUnlimitedKey());
  });
  afterAll(cleanUp);

  it('serve every operation, repeatedly and concurrently', async () => {
    const insertExamples = await loadExamples();
    const accountId = `${(await store.get(AccountsService).list()).at(-1)?.id}`;
    const outcomes = [];
    for (let round = 0; round < 3; round++) {
      for (const { port } of replicas) {
        for (const operation of OPERATIONS) {
          await insertExamples((sql) => store.query(sql), accountId);
          const { status } = await client.call(port, { ...operation, body: operation.body });
          outcomes.push([operation.operationId, status]);
        }
      }
    }
    expect(outcomes).toEqual(
      Array(3 * REPLICAS)
        .fill(OPERATIONS.map((operation) => [operation.operationId, findSuccessStatus(operation)]))
        .flat(),
    );
    const paths = [...LISTS, '/v1/pets/1', '/v1/pets?status=sold'];
    const replies = await runConcurrently(24, 480, (index) => {
      const port = replicas[index % REPLICAS]?.port ?? 0;
      const path = paths[index % paths.length] ?? '';
      return index % 5 === 0 ? client.add(port, `Rex ${index}`) : client.call(port, { path });
    });
    expect([...new Set(replies.map(({ status }) => status))].sort()).toEqual([200, 201]);
  });

  it('execute a creation once when all of them receive its Idempotency-Key', async () => {
    const replies = await Promise.all(
      replicas.map(({ port }) => client.add(port, 'Rex', { 'idempotency-key': 'once' })),
    );
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
  });

  it('cancel a statement that takes too long, on the server as well', async () => {
    await store.query(
      `CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$;
       CREATE TRIGGER take_time BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION take_time()`,
    );
    const reply = await client.add(replicas[0]?.port ?? 0, 'Rex');
    await store.query('DROP TRIGGER take_time ON pets; DROP FUNCTION take_time');
    expect(reply.status).toBe(503);
    const running = `SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%INSERT INTO pets%' AND pid <> pg_backend_pid()`;
    await eventually(5_000, async () => (await store.query<unknown[]>(running)).length === 0);
  });

  it('leave no session lock, prepared statement or setting on the shared connections', async () => {
    const locks = await store.query(`SELECT FROM pg_locks WHERE locktype = 'advisory'`);
    expect(locks).toEqual([]);
    if (mode === 'transaction') {
      // One only checks the schema, and one migrates it through the pooler.
      const others: Record<string, string>[] = [{ MIGRATE_ON_START: 'false' }, { DATABASE_MIGRATION_URL: '' }];
      for (const other of others) {
        const replica = await Replica.start({ ...env, ...other });
        await eventually(20_000, () => replica.isReady());
        const { stdout } = await replica.program.kill('SIGKILL');
        expect(stdout).not.toContain('database_timeouts_missing');
      }
      const left = await Promise.all(
        Array.from({ length: poolSize }, async () => {
          const shared = new pg.Client(env.DATABASE_URL);
          await shared.connect();
          // So long that each has a server connection of its own.
          const { rows } = await shared.query(
            `SELECT current_setting('statement_timeout') AS timeout, (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
             pg_sleep(0.2) IS NULL AS slept`,
          );
          await shared.end();
          return rows[0] as object;
        }),
      );
      expect(left).toEqual(Array(poolSize).fill({ timeout: '900ms', statements: 0, slept: false }));
    }
  });

  if (mode === 'transaction') {
    // Before a replica with the wrong mode leaves its own timeouts on the server connections.
    it('log which timeouts their role lacks', async () => {
      const unlimited = await Replica.start({ ...env, DATABASE_URL: `${pooler.url}/petstore` });
      await eventually(20_000, () => unlimited.isReady());
      const { stdout } = await unlimited.program.kill('SIGKILL');
      expect(stdout).toMatch(
        /no idle_in_transaction_session_timeout, lock_timeout, statement_timeout, which DATABASE_POOLER_MODE=transaction needs/,
      );
      expect(replicas.map(({ program }) => program.stdout).join('')).not.toContain('database_timeouts_missing');
    });
  }

  // PgBouncer 1.21 and later keep prepared statements in transaction mode.
  const version = execFileSync(findProgram('pgbouncer'), ['--version'], { encoding: 'utf8' });
  const losesPreparedStatements = /PgBouncer 1\.(\d|1\d|20)\./.test(version);
  if (mode === 'transaction' && losesPreparedStatements) {
    it('lose no request when DATABASE_POOLER_MODE is not set, and log once which setting is missing', async () => {
      // It uses another role, because its prepared statements remain on the server connections of that role.
      const misconfigured = await Replica.start({
        ...env,
        DATABASE_URL: `${pooler.url}/petstore`,
        DATABASE_POOLER_MODE: '',
      });
      await eventually(20_000, () => misconfigured.isReady());
      const replies = await runConcurrently(32, 1_000, (index) =>
        index % 4 === 0 ? client.add(misconfigured.port, 'Rex') : client.call(misconfigured.port),
      );
      const { stdout } = await misconfigured.program.kill('SIGKILL');
      expect([...new Set(replies.map(({ status }) => status))].sort()).toEqual([200, 201]);
      expect([...stdout.matchAll(/prepared_statements_lost.*DATABASE_POOLER_MODE/g)]).toHaveLength(1);
    });
  }

  it('return 503 within 2 s while a table is locked, to one request and to many', async () => {
    const session = await postgres.openSession('petstore');
    await session.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const port = replicas[0]?.port ?? 0;
    const replies = [await client.call(port), ...(await runConcurrently(32, 32, () => client.call(port)))];
    await session.end();
    expect([...new Set(replies.map(({ status }) => status))]).toEqual([503]);
    expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
    await eventually(2_000, async () => (await client.call(port)).status === 200);
  });

  it('have a command line that works through PgBouncer', async () => {
    const { id } = await readJson<{ id: number }>('accounts create --name Acme --plan pro', env);
    for (const line of [`keys create ${id}`, `keys list ${id}`, `accounts show ${id}`, 'audit', 'migrate']) {
      expect([line, (await runCommand(line, env)).code]).toEqual([line, 0]);
    }
  });
});
