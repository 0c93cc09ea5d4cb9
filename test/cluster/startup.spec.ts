import type pg from 'pg';
import { IDENTIFIER } from '../../src/config/brand';
import { generateSecret } from '../../src/auth/api-key-secret';
import { cleanUp } from '../support/cleanup';
import { findFreePort, parseLog, runPetstore, Program } from '../support/process';
import { startAsProcess1 } from './support/init-process';
import { Proxy } from './support/proxy';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

const WORST_STALL_MS = 900;

describe('A replica that is starting', () => {
  let postgres: Server;
  let operator: pg.Client;

  beforeEach(async () => {
    postgres = await Server.startPostgres();
    operator = await postgres.openSession();
  });
  afterEach(cleanUp);

  const start = (env: Record<string, string>) => Replica.start({ DRAIN_SECONDS: '0', ...env });
  const findEvent = ({ stdout }: { readonly stdout: string }, name: string) =>
    parseLog(stdout).find((line) => line['event.action'] === name);
  const readReasons = ({ program }: Replica) =>
    parseLog(program.stdout).flatMap((line) =>
      line['event.action'] === 'database_unavailable' ? [(line[IDENTIFIER] as { reason: string }).reason] : [],
    );
  const createUrl = (user: string, database: string) => `postgres://${user}@127.0.0.1:${postgres.port}/${database}`;

  /** Reverts a migration and, like a backup, holds a lock on the table that it changes. */
  const blockMigration = async () => {
    const store = await Store.open(postgres.url);
    await store.query(`DELETE FROM migrations WHERE name LIKE 'AddKeyUnbans%'`);
    await store.query('ALTER TABLE api_keys DROP COLUMN unbans');
    const backup = await postgres.openSession();
    await backup.query('BEGIN; LOCK TABLE api_keys IN ACCESS SHARE MODE');
    return backup;
  };

  it('keeps retrying while the login, the database or a privilege is missing, logs each reason once, and becomes ready', async () => {
    await operator.query(`CREATE ROLE app LOGIN PASSWORD 'right'`);
    const { rows } = await operator.query<{ hba_file: string }>('SHOW hba_file');
    await operator.query(
      `COPY (VALUES ('host all app 127.0.0.1/32 scram-sha-256'), ('host all all 127.0.0.1/32 trust'))
       TO '${rows[0]?.hba_file ?? ''}'`,
    );
    await operator.query('SELECT pg_reload_conf()');
    const replica = await start({ DATABASE_URL: createUrl('app:wrong', 'later') });
    const waitForReason = (reason: string) =>
      eventually(10_000, () => readReasons(replica).at(-1)?.includes(reason) ?? false);
    await waitForReason('password authentication failed');
    await operator.query(`ALTER ROLE app PASSWORD 'wrong'`);
    await waitForReason('database "later" does not exist');
    expect([(await fetch(`${replica.url}/healthz`)).status, await replica.isReady()]).toEqual([200, false]);
    await operator.query('CREATE DATABASE later');
    await waitForReason('permission denied');
    await operator.query('ALTER DATABASE later OWNER TO app');
    await eventually(10_000, () => replica.isReady());
    expect(readReasons(replica)).toHaveLength(3);
    await eventually(1_000, () => replica.program.stdout.includes('"event.action":"database_opened"'));

    // After the password is rotated, new connections fail.
    await operator.query(`ALTER ROLE app PASSWORD 'rotated'`);
    await operator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'`);
    const headers = { authorization: `Bearer ${generateSecret('production')}` };
    const statuses = new Set<number>();
    const call = async () => {
      const { status } = await fetch(`${replica.url}/v1/pets`, { headers });
      statuses.add(status);
      return status;
    };
    await eventually(10_000, async () => (await call()) === 503);
    await operator.query(`ALTER ROLE app PASSWORD 'wrong'`);
    await eventually(10_000, async () => (await call()) === 401);
    expect([...statuses]).not.toContain(500);
  });

  it('exits with 1 and the reason when the database encoding is not UTF8, even if the database is created later', async () => {
    const database = `ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`;
    const message = expect.stringMatching(
      /^The database cannot be used: its encoding is LATIN1 but must be UTF8/,
    ) as string;
    await operator.query(`CREATE DATABASE latin ${database}`);
    const env = { APP_ENV: 'production', PORT: await findFreePort(), DATABASE_URL: createUrl('postgres', 'latin') };
    const ended = await new Program('main.js', [], env).exit;
    expect([ended.code, findEvent(ended, 'start_failed')]).toMatchObject([1, { 'log.level': 'fatal', message }]);

    const replica = await start({ DATABASE_URL: createUrl('postgres', 'later') });
    await operator.query(`CREATE DATABASE later ${database}`);
    const { code } = await replica.program.exit;
    expect([code, findEvent(replica.program, 'database_failed')]).toMatchObject([1, { 'log.level': 'fatal', message }]);
  });

  it('changes nothing with MIGRATE_ON_START=false, lists missing migrations, and becomes ready once they have run', async () => {
    const replica = await start({ DATABASE_URL: postgres.url, MIGRATE_ON_START: 'false' });
    expect(await replica.isReady()).toBe(false);
    expect(readReasons(replica)).toEqual([
      expect.stringMatching(/lacks migrations: CreateAccountsAndKeys\d+, CreatePets\d+, /),
    ]);
    expect((await operator.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`)).rowCount).toBe(0);
    expect(await runPetstore(['migrate'], { DATABASE_URL: postgres.url })).toMatchObject({ code: 0, stderr: '' });
    await eventually(5_000, () => replica.isReady());
  });

  it('waits for the lock of a backup, logs that, and does not block other sessions', async () => {
    const backup = await blockMigration();
    const replica = await start({ DATABASE_URL: postgres.url });
    const command = new Program('cli/main.js', ['migrate'], { DATABASE_URL: postgres.url });
    let worstMs = 0;
    for (const until = performance.now() + 5_000; performance.now() < until;) {
      const startedAt = performance.now();
      await operator.query('SELECT count(*) FROM api_keys');
      worstMs = Math.max(worstMs, performance.now() - startedAt);
    }
    expect(worstMs).toBeLessThan(WORST_STALL_MS);
    expect(await replica.isReady()).toBe(false);
    expect(readReasons(replica)).toContain('another session, such as a backup, locks a table that a migration changes');
    await eventually(20_000, () => command.stderr !== '');
    await backup.end();
    await eventually(10_000, () => replica.isReady());
    expect((await command.exit).stderr).toMatch(/^(note: The migration is waiting: another .+\.\n){1,2}$/);
    const { rowCount } = await operator.query(`SELECT FROM migrations WHERE name LIKE 'AddKeyUnbans%'`);
    expect(rowCount).toBe(1);
  });

  it('stops on SIGTERM while it waits for a lock, even as process 1', async () => {
    await blockMigration();
    const env = { APP_ENV: 'production', PORT: await findFreePort(), DATABASE_URL: postgres.url };
    const { child, kill } = startAsProcess1(env, ['ignore', 'pipe', 'inherit']);
    let stdout = '';
    child.stdout?.on('data', (data: Buffer) => (stdout += data.toString()));
    await eventually(20_000, () => stdout.includes('locks a table'));
    expect(await kill('SIGTERM')).toBe(0);
    expect(stdout).toContain('"event.action":"stopped"');
  });

  it('takes another connection when nothing more arrives on the first', async () => {
    const proxy = await Proxy.start(postgres.port);
    await proxy.dropFrom("current_setting('server_encoding')");
    const replica = await start({ DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres` });
    await eventually(10_000, () => replica.isReady());
    expect(readReasons(replica)).toEqual(['Query read timeout']);
  });

  it('leaves no lock in PgBouncer in transaction mode when several replicas migrate concurrently', async () => {
    const pooler = await Server.startPgbouncer(postgres);
    const migrate = () => runPetstore(['migrate', '--json'], { DATABASE_URL: `${pooler.url}/postgres` });
    const results = await Promise.all([migrate(), migrate(), migrate()]);
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(results.filter(({ stdout }) => stdout.includes('CreatePets'))).toHaveLength(1);
    const { rowCount } = await operator.query(`SELECT FROM pg_locks WHERE locktype = 'advisory'`);
    expect(rowCount).toBe(0);
  });
});
