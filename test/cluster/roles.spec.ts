import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { getErrorCode } from '../../src/shared/domain/error-message';
import { runCommand, readJson } from '../support/command-line';
import { killPrograms, runPetstore } from '../support/process';
import { Client } from './support/client';
import { callEveryOperation } from './support/every-operation';
import { eventually, Replica } from './support/replica';
import { findPostgresProgram, Server } from './support/servers';
import { Store } from './support/store';

const ROLES = join(__dirname, '../../docs/sql/roles.sql');
const INSUFFICIENT_PRIVILEGE = '42501';

describe('With the roles of docs/sql/roles.sql', () => {
  let postgres: Server;
  let operator: pg.Client;

  beforeAll(async () => {
    postgres = await Server.startPostgres();
    operator = await postgres.openSession();
    // Not a superuser, as in managed services.
    await operator.query('CREATE ROLE administrator LOGIN CREATEDB CREATEROLE');
  });
  afterEach(killPrograms);

  const createUrl = (role: string, database: string) => `postgres://${role}@127.0.0.1:${postgres.port}/${database}`;
  const applyRoles = (database: string, role = 'administrator') => {
    const args = ['--quiet', '--set', 'ON_ERROR_STOP=1', '--file', ROLES, createUrl(role, database)];
    execFileSync('psql', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const createDatabase = async (name: string, owner = 'administrator') => {
    await operator.query(`CREATE DATABASE ${name} OWNER ${owner}`);
    await (await postgres.openSession(name)).query(`ALTER SCHEMA public OWNER TO ${owner}`);
  };
  const createEnv = (database: string) => ({
    APP_ENV: 'production',
    DATABASE_URL: createUrl('petstore_app', database),
    DRAIN_SECONDS: '0',
  });
  const createMigrationEnv = (database: string) => ({ DATABASE_MIGRATION_URL: createUrl('petstore_owner', database) });
  /** Runs a statement as a role. @returns the SQLSTATE of its failure */
  const execute = async (role: string, database: string, sql: string) => {
    const client = new pg.Client(createUrl(role, database));
    await client.connect();
    try {
      await client.query(sql);
      return 'done';
    } catch (error) {
      return getErrorCode(error);
    } finally {
      await client.end();
    }
  };

  describe('in a database that petstore_owner has migrated', () => {
    const DATABASE = 'migrated';
    let env: Record<string, string>;
    let store: Store;
    let client: Client;

    beforeAll(async () => {
      env = createEnv(DATABASE);
      await createDatabase(DATABASE);
      applyRoles(DATABASE);
      expect((await runPetstore(['migrate'], { ...env, ...createMigrationEnv(DATABASE) })).stderr).toBe('');
      applyRoles(DATABASE);
      store = await Store.open(createUrl('petstore_owner', DATABASE));
      client = new Client(await store.createUnlimitedKey());
    });

    const callEach = (replica: Replica) =>
      callEveryOperation(store, client, [replica.port], () => ({ 'idempotency-key': randomUUID() }));

    it('petstore_app can serve every operation, including those on tables of later migrations', async () => {
      const replica = await Replica.start({ ...env, MIGRATE_ON_START: 'false' });
      await eventually(10_000, () => replica.isReady());
      await callEach(replica);
      // Undo the migrations of one table, to apply them again.
      await store.query(
        `DROP TABLE idempotency_records;
         DELETE FROM migrations WHERE name ~ '^(CreateIdempotencyRecords|AddResponseHead)'`,
      );
      const { stdout } = await runPetstore(['migrate', '--json'], { ...env, ...createMigrationEnv(DATABASE) });
      expect(stdout).toContain('CreateIdempotencyRecords');
      await callEach(replica);
    });

    it('petstore_app can run every command except migrations', async () => {
      const account = await readJson<{ id: number }>('accounts create --name Acme --plan free', env);
      const key = await readJson<{ id: number }>(`keys create ${account.id}`, env);
      const rotated = await readJson<{ id: number }>(`keys rotate ${key.id}`, env);
      const onKey = [`keys set-scope ${rotated.id} read`, `keys unban ${rotated.id}`, `keys revoke ${rotated.id}`];
      const onAccount = [
        `accounts set-plan ${account.id} --plan pro`,
        `accounts show ${account.id}`,
        `accounts suspend ${account.id}`,
        `accounts resume ${account.id}`,
      ];
      for (const line of [...onKey, ...onAccount, `keys list ${account.id}`, 'accounts list', 'audit']) {
        expect([line, (await runCommand(line, env)).code]).toEqual([line, 0]);
      }
      const app = await Store.open(createUrl('petstore_app', DATABASE));
      expect(await app.removeExpiredRecords()).toBe(0);
    });

    it('petstore_owner can make backups', () => {
      const backup = execFileSync(findPostgresProgram('pg_dump'), [createUrl('petstore_owner', DATABASE)], {
        encoding: 'utf8',
      });
      expect(backup).toContain('COPY public.api_keys');
    });

    it.each([
      'CREATE TABLE mine ()',
      'CREATE TEMPORARY TABLE mine ()',
      'CREATE SCHEMA mine',
      'CREATE INDEX ON pets (name)',
      'ALTER TABLE pets ADD COLUMN mine int',
      'ALTER TABLE audit_entries DISABLE TRIGGER ALL',
      'DROP TABLE pets',
      'TRUNCATE pets',
      `UPDATE audit_entries SET action = 'none'`,
      'DELETE FROM audit_entries',
      'DELETE FROM migrations',
      'SET ROLE petstore_owner',
    ])('petstore_app cannot run: %s', async (sql) => {
      expect(await execute('petstore_app', DATABASE, sql)).toBe(INSUFFICIENT_PRIVILEGE);
    });
  });

  it('a replica with both URLs creates the tables of an empty database, and one without DATABASE_MIGRATION_URL waits for them', async () => {
    await createDatabase('empty');
    applyRoles('empty');
    const appOnly = await Replica.start(createEnv('empty'));
    await eventually(10_000, () =>
      appOnly.program.stdout.includes('permission denied for schema public; set DATABASE_MIGRATION_URL'),
    );
    expect(await appOnly.isReady()).toBe(false);
    const both = await Replica.start({ ...createEnv('empty'), ...createMigrationEnv('empty') });
    await eventually(10_000, () => both.isReady());
    await eventually(10_000, () => appOnly.isReady());
  });

  it('a replica waits, and names what it lacks, while its role has no privileges or its URL names another database', async () => {
    await createDatabase('ungranted');
    const owner = { ...createEnv('ungranted'), DATABASE_URL: createUrl('administrator', 'ungranted') };
    expect((await runPetstore(['migrate'], owner)).code).toBe(0);
    await createDatabase('another');
    for (const [env, reason] of [
      [
        { ...createEnv('ungranted'), MIGRATE_ON_START: 'false' },
        'permission denied for table migrations; grant the role',
      ],
      [{ ...createEnv('another'), DATABASE_MIGRATION_URL: owner.DATABASE_URL }, 'its schema lacks migrations'],
    ] as const) {
      const replica = await Replica.start(env);
      await eventually(10_000, () => replica.program.stdout.includes(reason));
      expect(await replica.isReady()).toBe(false);
    }
    const { code, stderr } = await runPetstore(['migrate', '--status'], createEnv('ungranted'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('permission denied for table migrations')]);
  });

  it('the script takes over a database that another role has migrated', async () => {
    await createDatabase('existing', 'postgres');
    const before = await Store.open(createUrl('postgres', 'existing'));
    await before.createKey('free');
    applyRoles('existing', 'postgres');
    expect(await execute('petstore_owner', 'existing', 'ALTER TABLE pets ADD COLUMN mine int')).toBe('done');
    expect(await execute('petstore_app', 'existing', 'UPDATE api_keys SET unbans = 1')).toBe('done');
    expect(await execute('petstore_app', 'existing', 'DELETE FROM migrations')).toBe(INSUFFICIENT_PRIVILEGE);
  });
});
