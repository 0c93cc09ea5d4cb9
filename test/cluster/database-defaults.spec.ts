import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { AccountsService, type IssuedKey, KeysService } from '../../src/auth';
import { cleanUp } from '../support/cleanup';
import { readJson, runCommand } from '../support/command-line';
import { LISTS } from '../support/operations';
import { listStatuses, Client, getErrorCode, runConcurrently } from './support/client';
import { callEveryOperation } from './support/every-operation';
import { eventually, Replica } from './support/replica';
import { findProgram, Server } from './support/servers';
import { Store } from './support/store';

const REPLICAS = 3;
const NAME = 'A \\ "quoted" name';
/** Defaults that change how PostgreSQL reads or writes values, or runs transactions. */
const DEFAULTS: Readonly<Record<string, string>> = {
  DateStyle: 'SQL, DMY',
  TimeZone: `'Asia/Kolkata'`,
  IntervalStyle: 'sql_standard',
  array_nulls: 'off',
  bytea_output: 'escape',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  extra_float_digits: '-15',
  idle_session_timeout: `'3s'`,
  quote_all_identifiers: 'on',
  session_replication_role: 'replica',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
};

describe.each([
  { way: 'directly', mode: undefined, poolSize: 0 },
  // Each connection of a replica or a command occupies a server connection.
  { way: 'through PgBouncer in session mode', mode: 'session', poolSize: 40 },
  // The replicas share far fewer server connections than they open.
  { way: 'through PgBouncer in transaction mode', mode: 'transaction', poolSize: 6 },
] as const)('Three replicas that connect $way to a database with unusual defaults', ({ mode, poolSize }) => {
  let postgres: Server;
  /** PgBouncer, or PostgreSQL itself. */
  let endpoint: Server;
  let store: Store;
  let replicas: Replica[];
  let client: Client;
  let env: Record<string, string>;

  beforeAll(async () => {
    postgres = await Server.startPostgres();
    endpoint = mode === undefined ? postgres : await Server.startPgbouncer(postgres, mode, poolSize);
    const operator = await postgres.openSession();
    await operator.query('CREATE DATABASE petstore');
    for (const [name, value] of Object.entries(DEFAULTS)) {
      await operator.query(`ALTER DATABASE petstore SET ${name} TO ${value}`);
    }
    env = {
      APP_ENV: 'production',
      DATABASE_URL: `${endpoint.url}/petstore`,
      DATABASE_MIGRATION_URL: `${postgres.url}/petstore`,
      DATABASE_POOLER_MODE: mode ?? '',
      DRAIN_SECONDS: '0',
    };
    if (mode === 'transaction') {
      // As described in docs/operating.md.
      await operator.query(`
        CREATE ROLE app LOGIN SUPERUSER;
        ALTER ROLE app SET statement_timeout = '900ms';
        ALTER ROLE app SET lock_timeout = '500ms';
        ALTER ROLE app SET idle_in_transaction_session_timeout = '3s'`);
      env.DATABASE_URL = `postgres://app@127.0.0.1:${endpoint.port}/petstore`;
    }
    replicas = await Replica.startAll(REPLICAS, env);
    await eventually(20_000, async () => (await Promise.all(replicas.map((each) => each.isReady()))).every(Boolean));
    store = await Store.open(`${postgres.url}/petstore`);
    client = new Client(await store.createUnlimitedKey());
  });
  afterAll(cleanUp);

  const getPort = (index: number) => replicas[index % REPLICAS]?.port ?? NaN;
  const startOther = async (changes: Record<string, string>) => {
    const replica = await Replica.start({ ...env, ...changes });
    await eventually(20_000, () => replica.isReady());
    return replica;
  };

  it('serve every operation, repeatedly and concurrently', async () => {
    const ports = replicas.map(({ port }) => port);
    await callEveryOperation(store, client, [...ports, ...ports, ...ports]);
    const paths = [...LISTS, '/v1/pets/1', '/v1/pets?status=sold'];
    // PgBouncer opens one server connection after another.
    const replies = await runConcurrently(12, 480, (index) => {
      const path = paths[index % paths.length] ?? '';
      return index % 5 === 0 ? client.add(getPort(index), NAME) : client.call(getPort(index), { path });
    });
    expect(listStatuses(replies)).toEqual([200, 201]);
    const { body } = await client.call(getPort(0), { path: '/v1/pets?limit=100' });
    expect((JSON.parse(body) as { name: string }[]).filter(({ name }) => name === NAME).length).toBeGreaterThan(50);
  });

  it('execute a creation once when all of them receive its Idempotency-Key', async () => {
    const replies = await Promise.all(
      replicas.map(({ port }) => client.add(port, 'Rex', { 'idempotency-key': 'once' })),
    );
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
  });

  it('reject revoked, expired and rotated keys within a second, which the command line can revoke, rotate and list', async () => {
    const { id } = await store.get(AccountsService).create('Test', 'business');
    const keys = store.get(KeysService);
    const issued = [await keys.create(id), await keys.create(id), await keys.create(id)] as const;
    const [revoked, expired, rotated] = issued;
    for (const { secret } of issued) {
      expect((await new Client(secret).call(getPort(0))).status).toBe(200);
    }
    const expectRejection = ({ secret }: IssuedKey, code: string) =>
      eventually(1_000, async () => {
        const reply = await new Client(secret).call(getPort(0));
        return reply.status === 401 && getErrorCode(reply) === code;
      });
    expect((await runCommand(`keys revoke ${revoked.key.id}`, env)).code).toBe(0);
    await expectRejection(revoked, 'invalid_api_key');
    await store.query(`UPDATE api_keys SET expires_at = now() - interval '1 minute' WHERE id = $1`, [expired.key.id]);
    await expectRejection(expired, 'expired_api_key');
    expect((await runCommand(`keys rotate ${rotated.key.id} --grace 0`, env)).code).toBe(0);
    await expectRejection(rotated, 'expired_api_key');
    const listed = await readJson<{ state: string; createdAt: string }[]>(`keys list ${id}`, env);
    expect(listed.map(({ state }) => state)).toEqual(['revoked', 'expired', 'expired', 'active']);
    expect(listed.slice(0, 3).map(({ createdAt }) => createdAt)).toEqual(
      issued.map(({ key }) => key.createdAt.toISOString()),
    );
  });

  it('have a command line that works', async () => {
    const { id } = await readJson<{ id: number }>('accounts create --name Acme --plan pro', env);
    for (const line of [`keys create ${id}`, `accounts show ${id}`, 'audit', 'migrate']) {
      expect([line, (await runCommand(line, env)).code]).toEqual([line, 0]);
    }
  });

  it('cancel a statement that takes too long, on the server as well', async () => {
    await store.query(
      `CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$;
       CREATE TRIGGER take_time BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION take_time()`,
    );
    const reply = await client.add(getPort(0), 'Rex');
    await store.query('DROP TRIGGER take_time ON pets; DROP FUNCTION take_time');
    expect(reply.status).toBe(503);
    const running = `SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%INSERT INTO pets%' AND pid <> pg_backend_pid()`;
    await eventually(5_000, async () => (await store.query<unknown[]>(running)).length === 0);
  });

  it('leave no session lock, prepared statement or setting on shared connections', async () => {
    const locks = await store.query(`SELECT FROM pg_locks WHERE locktype = 'advisory'`);
    expect(locks).toEqual([]);
    if (mode === 'transaction') {
      // One only checks the schema, and one migrates it through the pooler.
      for (const [setting, value] of [
        ['MIGRATE_ON_START', 'false'],
        ['DATABASE_MIGRATION_URL', ''],
      ] as const) {
        const { stdout } = await (await startOther({ [setting]: value })).program.kill('SIGKILL');
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
      const unlimited = await startOther({ DATABASE_URL: `${endpoint.url}/petstore` });
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
      // Another database, because it leaves its prepared statements and settings on the server connections.
      await (await postgres.openSession()).query('CREATE DATABASE usual');
      const urls = { DATABASE_URL: `${endpoint.url}/usual`, DATABASE_MIGRATION_URL: `${postgres.url}/usual` };
      const { port, program } = await startOther({ ...urls, DATABASE_POOLER_MODE: '' });
      const user = new Client(await (await Store.open(urls.DATABASE_MIGRATION_URL)).createUnlimitedKey());
      const replies = await runConcurrently(32, 1_000, (index) =>
        index % 4 === 0 ? user.add(port, 'Rex') : user.call(port),
      );
      const { stdout } = await program.kill('SIGKILL');
      expect(listStatuses(replies)).toEqual([200, 201]);
      expect([...stdout.matchAll(/prepared_statements_lost.*DATABASE_POOLER_MODE/g)]).toHaveLength(1);
    });
  }

  it('return 503 within 2 s while a table is locked, to one request and to many', async () => {
    const session = await postgres.openSession('petstore');
    await session.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const port = getPort(0);
    const replies = [await client.call(port), ...(await runConcurrently(32, 32, () => client.call(port)))];
    await session.end();
    expect(listStatuses(replies)).toEqual([503]);
    expect(Math.max(...replies.map(({ ms }) => ms))).toBeLessThan(2_000);
    await eventually(2_000, async () => (await client.call(port)).status === 200);
  });
});
