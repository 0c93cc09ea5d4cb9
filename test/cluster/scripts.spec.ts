import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { AccountsService, KeysService } from '../../src/auth';
import { cleanUp } from '../support/cleanup';
import { readJson } from '../support/command-line';
import { runPetstore } from '../support/process';
import { Client, getErrorCode, runConcurrently } from './support/client';
import { Platform, type PlatformName } from './support/platform';
import { eventually } from './support/replica';
import { findPostgresProgram, Server } from './support/servers';
import { Store } from './support/store';

const SCRIPTS = join(__dirname, '../../deploy/scripts');
const NAMES = readdirSync(SCRIPTS).filter((name) => !name.endsWith('.sh'));
const ROLES = join(__dirname, '../../docs/sql/roles.sql');
const REDIS_USER = ['~petstore:production:*', ...'+eval +evalsha +time +hmget +hset +pexpire +info'.split(' ')];
/** The service's roles have passwords. */
const PG_HBA = `
host all postgres 127.0.0.1/32 trust
host replication postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`;
const ANIMAL = { name: 'Rex', categoryId: 1 };
const OK = { code: 0, stdout: expect.any(String) as string, stderr: expect.any(String) as string };

describe('The scripts of deploy/scripts', () => {
  it.each(NAMES)('%s has the common options, and asks for what it needs', (name) => {
    const run = (...args: string[]) => execFileSync(join(SCRIPTS, name), args, { encoding: 'utf8', stdio: 'pipe' });
    const help = run('--help');
    expect(help).toMatch(/^[A-Z]/);
    expect(help).toContain(name);
    ['--namespace', '--dry-run', '--yes', '--help'].forEach((option) => {
      expect(help).toContain(option);
    });
    expect(() => run('--dryrun')).toThrow(/There is no option --dryrun/);
    if (name !== 'look') {
      expect(() => run()).toThrow(/see --help/);
    }
    if (!['look', 'run'].includes(name)) {
      expect(() => run('one', 'two')).toThrow(/too many arguments/);
    }
  });
});

describe.each<PlatformName>(['compose', 'kubernetes'])('The scripts with %s', (name) => {
  const isKubernetes = name === 'kubernetes';
  let [postgres, redis] = [] as unknown as [Server, Server];
  let platform: Platform;
  let store: Store;
  let client: Client;
  let revoked: Client;
  let port: number;
  let before: unknown;
  let lastId: number;
  let keysLeft: string[];

  const createUrl = (user: string, server: Server = postgres) =>
    `postgres://${user}:old@127.0.0.1:${server.port}/petstore`;
  const executeAsSuperuser = async (sql: string, database = 'postgres') => {
    const session = await postgres.openSession(database);
    await session.query(sql);
    await session.end();
  };
  const applyRoles = () =>
    execFileSync('psql', ['--quiet', '--file', ROLES, createUrl('administrator')], { stdio: 'pipe' });

  const createPlatform = async () => {
    const env = { APP_ENV: 'production', DRAIN_SECONDS: '0', BAN_GRACE_SECONDS: '0', REDIS_URL: redis.url };
    if (!isKubernetes) {
      await executeAsSuperuser(`CREATE ROLE petstore SUPERUSER LOGIN PASSWORD 'old'`);
      await executeAsSuperuser('CREATE DATABASE petstore OWNER petstore');
      return Platform.create(name, { 'database-url': createUrl('petstore') }, env);
    }
    await executeAsSuperuser(`CREATE ROLE administrator LOGIN CREATEDB CREATEROLE PASSWORD 'old';
      GRANT pg_monitor, pg_signal_backend TO administrator`);
    await executeAsSuperuser('CREATE DATABASE petstore OWNER administrator');
    await executeAsSuperuser('ALTER SCHEMA public OWNER TO administrator', 'petstore');
    applyRoles();
    await executeAsSuperuser(`ALTER ROLE petstore_app PASSWORD 'old'; ALTER ROLE petstore_owner PASSWORD 'old'`);
    const urls = {
      'database-url': createUrl('petstore_app'),
      'migration-database-url': createUrl('petstore_owner'),
      'redis-url': `redis://petstore:old@127.0.0.1:${redis.port}`,
    };
    await runPetstore(['migrate'], { APP_ENV: 'production', DATABASE_URL: urls['migration-database-url'] });
    applyRoles();
    await redis.openRedis().call('ACL', 'SETUSER', 'petstore', 'on', '>old', ...REDIS_USER);
    const operatorEnv = { ADMIN_DATABASE_URL: createUrl('administrator'), ADMIN_REDIS_URL: redis.url };
    return Platform.create(name, urls, { ...env, MIGRATE_ON_START: 'false' }, operatorEnv);
  };

  const create = () =>
    client.call(port, { method: 'POST', body: ANIMAL, headers: { 'idempotency-key': 'create-rex' } });
  const parseId = (body: string) => (JSON.parse(body) as { id: number }).id;
  const readAudit = () =>
    readJson<object[]>('audit', { APP_ENV: 'production', DATABASE_URL: `${postgres.url}/petstore` });

  /** Reads all stored data as clients and the operator see it. */
  const readEverything = async () => {
    const first = await client.call(port, { path: '/v1/pets?limit=10' });
    const next = /<(.+?)>; rel="next"/.exec(first.headers.link ?? '')?.[1] ?? '';
    const second = await client.call(port, { path: next });
    const one = await client.call(port, { path: '/v1/pets/31' });
    const repeated = await create();
    const rejected = await revoked.call(port);
    return {
      pages: [first, second].map(({ status, body, headers: { link } }) => ({ status, body, link })),
      one: { status: one.status, body: one.body },
      repeated: { status: repeated.status, body: repeated.body, replayed: repeated.headers['idempotent-replayed'] },
      rejected: [rejected.status, getErrorCode(rejected)],
      limit: first.headers['x-ratelimit-limit'],
      audit: await readAudit(),
    };
  };

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([
      Server.startPostgres({ files: { 'pg_hba.conf': PG_HBA } }),
      Server.startRedis(),
    ]);
    platform = await createPlatform();
    await platform.start();
    port = await platform.readPort();
    store = await Store.open(`${postgres.url}/petstore`);

    const { id } = await store.get(AccountsService).create('Acme', 'enterprise', { perMinute: 5_000, perDay: 50_000 });
    const [key, other] = [await store.get(KeysService).create(id), await store.get(KeysService).create(id)];
    await store.get(KeysService).revoke(other.key.id);
    [client, revoked] = [new Client(key.secret), new Client(other.secret)];
    await runConcurrently(8, 30, (index) => client.add(port, `Animal ${index}`));
    await create();

    expect(await platform.run('backup backup.dump')).toEqual(OK);
    before = await readEverything();
    lastId = parseId((await client.add(port, 'Too late')).body);
    const late = new Client(await store.createKey('free'));
    await late.call(port);
    await store.close();
    const otherApp = redis.openRedis();
    await otherApp.set('other:app', 'stays');

    expect(await platform.run('restore --yes backup.dump')).toEqual(OK);
    keysLeft = await otherApp.keys('*');
    store = await Store.open(`${postgres.url}/petstore`);
  }, 180_000);
  afterAll(cleanUp);

  describe('after a backup and a restore', () => {
    it('the same data is returned: pages, an animal, a retried creation, keys, plans and the audit trail', async () => {
      expect(before).toMatchObject({
        ...{ one: { status: 200 }, rejected: [401, 'invalid_api_key'], limit: '5000' },
        repeated: { status: 201, replayed: 'true' },
        audit: [
          { action: 'account_created' },
          { action: 'key_created' },
          { action: 'key_created' },
          { action: 'key_revoked' },
        ],
      });
      expect(await readEverything()).toEqual(before);
      expect(await readJson('migrate', { APP_ENV: 'production', DATABASE_URL: `${postgres.url}/petstore` })).toEqual(
        [],
      );
    });

    it('Redis has only the keys of other applications', () => {
      // Replicas check Redis when they start.
      expect(keysLeft.filter((key) => !key.endsWith('{probe}:check'))).toEqual(['other:app']);
    });

    it('the database is in the state of the backup, and assigns the next IDs from there', async () => {
      expect((await client.call(port, { path: `/v1/pets/${lastId}` })).status).toBe(404);
      expect(parseId((await client.add(port, 'Mia')).body)).toBe(lastId);
    });

    it('the audit trail is still append-only', async () => {
      for (const sql of [
        `UPDATE audit_entries SET operator = 'x'`,
        'DELETE FROM audit_entries',
        'TRUNCATE audit_entries',
      ]) {
        await expect(store.query(sql)).rejects.toThrow('audit_entries is append-only');
      }
    });

    it('new accounts and keys are accepted, and do not inherit the usage of earlier ones with the same IDs', async () => {
      const customer = new Client(await store.createKey('free'));
      const { status, headers } = await customer.call(port);
      expect([status, headers['x-ratelimit-remaining']]).toEqual([200, '59']);
      expect(await readAudit()).toContainEqual(expect.objectContaining({ action: 'key_created' }));
    });
  });

  it('restore replaces nothing when the file is damaged, an operator says no, or a restored database is in the way', async () => {
    const damaged = join(platform.directory, 'damaged.dump');
    const whole = await readFile(join(platform.directory, 'backup.dump'));
    execFileSync('dd', [`of=${damaged}`], { input: whole.subarray(0, -500), stdio: ['pipe', 'ignore', 'ignore'] });
    expect((await platform.run('restore --yes damaged.dump')).stderr).toContain('is not a complete backup');
    expect((await platform.run('restore --yes backup.dump')).stderr).toContain('petstore_damaged exists');
    expect((await platform.run('backup backup.dump')).stderr).toContain('already exists');
    expect(await platform.run(`run psql 'DROP DATABASE "petstore_damaged"'`)).toEqual(OK);
    expect(await platform.run('restore backup.dump', {}, 'no\n')).toMatchObject({ code: 1 });
    expect((await client.call(port)).status).toBe(200);
  });

  it('of two concurrent restores, one replaces the database, and the other changes nothing', async () => {
    await client.add(port, 'After the backup');
    await store.close();
    const exits = await Promise.all([1, 2].map(() => platform.run('restore --yes backup.dump')));
    store = await Store.open(`${postgres.url}/petstore`);
    expect(exits.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(exits.map(({ stderr }) => stderr).join()).toMatch(/Nothing was changed|petstore_damaged exists/);
    const count = async (url: string) => {
      const session = new pg.Client(url);
      await session.connect();
      const { rows } = await session.query(`SELECT count(*)::int AS found FROM pets WHERE name = 'After the backup'`);
      await session.end();
      return (rows[0] as { found: number }).found;
    };
    expect(await count(`${postgres.url}/petstore`)).toBe(0);
    expect(await count(`${postgres.url}/petstore_damaged`)).toBe(1);
    expect((await client.call(port)).status).toBe(200);
    expect(await platform.run(`run psql 'DROP DATABASE "petstore_damaged"'`)).toEqual(OK);
  }, 180_000);

  it('restore changes nothing while another is running or was killed', async () => {
    await executeAsSuperuser('CREATE DATABASE petstore_new');
    const { code, stderr } = await platform.run('restore --yes backup.dump');
    await executeAsSuperuser('DROP DATABASE petstore_new');
    expect([code, stderr]).toEqual([1, expect.stringContaining('another restore is running, or was killed')]);
  });

  if (isKubernetes) {
    it.each([
      ['restore --yes backup.dump', 'Set ADMIN_REDIS_URL'],
      ['rotate-password redis --yes', 'NOPERM'],
    ])('%s changes nothing without ADMIN_REDIS_URL', async (line, message) => {
      const stateBefore = await platform.readState();
      const { code, stdout, stderr } = await platform.run(line, { ADMIN_REDIS_URL: '' });
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(message)]);
      expect(await platform.readState()).toEqual(stateBefore);
    });
  }

  it('restore leaves the old database as it is when it fails', async () => {
    await executeAsSuperuser('CREATE DATABASE other');
    const table = `CREATE TABLE pets (id int CHECK (current_database() = 'other')); INSERT INTO pets VALUES (1)`;
    await executeAsSuperuser(table, 'other');
    const file = join(platform.directory, 'other.dump');
    execFileSync(findPostgresProgram('pg_dump'), ['--format=custom', '--file', file, `${postgres.url}/other`]);
    // An administrator who is not a superuser cannot end the sessions of one.
    await store.close();
    const { code, stderr } = await platform.run('restore --yes other.dump');
    store = await Store.open(`${postgres.url}/petstore`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The old database is unchanged')]);
    expect(stderr).toContain('violates check constraint');
    expect((await client.call(port, { path: '/v1/pets/1' })).status).toBe(200);
  });

  it('with --dry-run, change nothing and print no password', async () => {
    const stateBefore = await platform.readState();
    for (const line of ['restore backup.dump', 'rotate-password app', 'drain --all', 'backup another.dump']) {
      const { code, stdout, stderr } = await platform.run(`${line} --dry-run`);
      expect([line, code, stderr]).toEqual([line, 0, expect.stringContaining('would run')]);
      expect(stdout + stderr).not.toMatch(/:old@/);
    }
    expect(await platform.readState()).toEqual(stateBefore);
    expect((await client.call(port)).status).toBe(200);
  });

  it('restore rejects a backup of another application', async () => {
    await executeAsSuperuser('CREATE DATABASE foreigner');
    await executeAsSuperuser('CREATE TABLE visitors (id int)', 'foreigner');
    const file = join(platform.directory, 'foreigner.dump');
    execFileSync(findPostgresProgram('pg_dump'), ['--format=custom', '--file', file, `${postgres.url}/foreigner`]);
    const { code, stderr } = await platform.run('restore --yes foreigner.dump');
    expect([code, stderr]).toEqual([1, expect.stringContaining('foreigner.dump is not a backup of this service.')]);
    expect((await client.call(port, { path: '/v1/pets/1' })).status).toBe(200);
  });

  it('run gives the options after its first argument to the command', async () => {
    const { code, stdout, stderr } = await platform.run('run petstore accounts list --dry-run');
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toContain('would run');
  });

  it('run gives an operator the command line, SQL, Redis and the logs', async () => {
    const outputs = ['petstore accounts list', `psql 'SELECT 42 AS found'`, 'redis-cli ping', 'logs --since=1h'];
    const exits = [];
    for (const line of outputs) {
      exits.push(await platform.run(`run ${line}`));
    }
    const found = ['Acme', '42', 'PONG', '"event.action":"started"'].map(
      (text) => expect.stringContaining(text) as string,
    );
    expect(exits).toEqual(found.map((stdout) => ({ ...OK, stdout })));
  });

  it('look shows the replicas, the reasons of errors, sessions and their locks, Redis, and what fills the disk', async () => {
    const session = await postgres.openSession('petstore');
    await session.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    expect((await client.call(port)).status).toBe(503);
    // Replicas write their log in the background.
    await eventually(5_000, async () => (await platform.run('look errors')).stdout.includes('service_unavailable: '));
    const locked = await platform.run('look');
    await session.end();
    const disk = await platform.run('look disk');
    expect([locked.code, disk.code]).toEqual([0, 0]);
    const stdout = locked.stdout + disk.stdout;
    expect(stdout).not.toContain('(failed)');
    for (const text of ['petstore-1', 'service_unavailable: ', 'LOCK TABLE pets', 'PONG', 'audit_entries']) {
      expect(stdout).toContain(text);
    }
  });

  it('unban lifts the bans of an account', async () => {
    const { id } = await store.get(AccountsService).create('Banned One', 'free');
    const { secret } = await store.get(KeysService).create(id);
    const banned = new Client(secret);
    const call = async () => getErrorCode(await banned.call(port));
    await eventually(20_000, async () => {
      await runConcurrently(8, 40, call);
      return (await call()) === 'key_temporarily_banned';
    });
    expect(await platform.run(`unban 'Banned One'`)).toEqual(OK);
    await eventually(5_000, async () => (await call()) !== 'key_temporarily_banned');
    expect((await platform.run(`unban ${id}`)).stderr).toContain('No key of this account is banned');
  });

  it('drain replaces the replicas one at a time', async () => {
    const readPids = async () => Object.values((await platform.readState()).replicas).map(({ pid }) => pid);
    const [first, second] = await readPids();
    expect(await platform.run('drain petstore-1')).toEqual(OK);
    const [replaced, kept] = await readPids();
    expect([replaced === first, kept]).toEqual([false, second]);
    expect(await platform.run('drain --all')).toEqual(OK);
    expect(await readPids()).not.toContain(second);
    expect((await client.call(port)).status).toBe(200);
  }, 180_000);

  it('rotate-password changes nothing if PostgreSQL refuses the new password', async () => {
    const role = isKubernetes ? 'petstore_app' : 'petstore';
    const [stateBefore, url] = [await platform.readState(), await platform.readUrl()];
    await executeAsSuperuser(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
    const { code, stderr } = await platform.run('rotate-password app --yes');
    await executeAsSuperuser(`ALTER ROLE ${role} RESET default_transaction_read_only`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The password was not changed')]);
    expect([await platform.readState(), await platform.readUrl()]).toEqual([stateBefore, url]);
  });

  it('rotate-password changes the password everywhere, and lists the keys without an audit entry', async () => {
    const role = isKubernetes ? 'petstore_app' : 'petstore';
    const logIn = async (password: string) => {
      const session = new pg.Client(createUrl(role).replace(':old@', `:${password}@`));
      await session.connect();
      await session.end();
    };
    await store.query(`UPDATE api_keys SET revoked_at = NULL WHERE revoked_at IS NOT NULL`);
    const { code, stdout } = await platform.run('rotate-password app --yes', { NEW_PASSWORD: 'new1' });
    expect([code, stdout]).toEqual([0, expect.stringContaining('was revoked, and is not any more')]);
    await expect(logIn('old')).rejects.toThrow('password authentication failed');
    await logIn('new1');
    expect((await client.call(port)).status).toBe(200);
    if (isKubernetes) {
      expect(await platform.run('rotate-password owner --yes')).toEqual(OK);
      expect(await platform.run('rotate-password redis --yes', { NEW_PASSWORD: 'new2' })).toEqual(OK);
      expect((await platform.readState()).secret?.['redis-url']).toContain('petstore:new2@');
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      expect(await response.text()).toContain('petstore_rate_limit_store{store="redis"} 1');
    }
  }, 180_000);

  // Last, because it stops the server.
  it('switch-primary moves the replicas to a promoted standby, but not to a standby', async () => {
    const standby = await postgres.startStandby();
    const target = `switch-primary 127.0.0.1:${standby.port} --yes`;
    expect((await platform.run(target)).stderr).toContain('cannot use');
    await store.close();
    await postgres.stop();
    await (await standby.openSession()).query('SELECT pg_promote()');
    const moved = await platform.run(target);
    expect([moved.code, moved.stdout]).toEqual([0, expect.stringContaining('account_created')]);
    expect((await client.add(port, 'Rex')).status).toBe(201);
  }, 180_000);
});
