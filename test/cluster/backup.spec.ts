import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { AccountsService, KeysService } from '../../src/auth';
import { readJson } from '../support/command-line';
import { createTemporaryDirectory } from '../support/process';
import { Client, getErrorCode, runConcurrently } from './support/client';
import { Replica } from './support/replica';
import { findPostgresProgram, Server } from './support/servers';
import { Store } from './support/store';

const RUNBOOK = readFileSync(join(__dirname, '../../docs/runbook.md'), 'utf8');
const BLOCKS = [...RUNBOOK.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands);
/** Finds the commands in docs/runbook.md that begin with a command. */
const findCommands = (first: string) => BLOCKS.find((commands) => commands.trimStart().startsWith(first)) ?? 'false';
const BACKUP = findCommands('pg_dump ');
const RESTORE = findCommands('pg_restore ');
const CLEAR_REDIS = findCommands('redis-cli -u "$REDIS_URL" --scan');

const ANIMAL = { name: 'Rex', categoryId: 1 };

describe('A database that was backed up, dropped and restored', () => {
  let postgres: Server;
  let redis: Server;
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  let store: Store;
  let replica: Replica;
  let env: Record<'APP_ENV' | 'DATABASE_URL' | 'REDIS_URL' | 'DRAIN_SECONDS', string>;
  let client: Client;
  let revoked: Client;
  let before: unknown;
  let lastId: number;
  let keysLeft: string[];

  beforeAll(async () => {
    [postgres, redis, directory] = await Promise.all([
      Server.startPostgres(),
      Server.startRedis(),
      createTemporaryDirectory(),
    ]);
    env = {
      ...{ APP_ENV: 'production', DRAIN_SECONDS: '0' },
      ...{ DATABASE_URL: `${postgres.url}/petstore`, REDIS_URL: redis.url },
    };
    runCommands(`psql "$MAINTENANCE_URL" -c 'CREATE DATABASE "petstore"'`);
    store = await Store.open(env.DATABASE_URL);
    replica = await Replica.start(env);

    const { id } = await store.get(AccountsService).create('Acme', 'enterprise', { perMinute: 5_000, perDay: 50_000 });
    const [key, other] = [await store.get(KeysService).create(id), await store.get(KeysService).create(id)];
    await store.get(KeysService).revoke(other.key.id);
    [client, revoked] = [new Client(key.secret), new Client(other.secret)];
    await runConcurrently(8, 30, (index) => client.add(replica.port, `Animal ${index}`));
    await create();

    runCommands(BACKUP);
    before = await readEverything();
    lastId = parseId((await client.add(replica.port, 'Too late')).body);
    const late = new Client(await store.createKey('free'));
    await late.call(replica.port);
    late.close();
    await replica.program.kill('SIGTERM');
    await store.close();
    const otherApp = new Redis(redis.url);
    await otherApp.set('other:app', 'stays');

    runCommands(RESTORE);
    runCommands(CLEAR_REDIS);
    keysLeft = await otherApp.keys('*');
    otherApp.disconnect();
    store = await Store.open(env.DATABASE_URL);
    replica = await replica.restart();
  });
  afterAll(async () => {
    client.close();
    revoked.close();
    await replica.program.kill('SIGKILL');
    await store.close();
    await Promise.all([postgres.remove(), redis.remove(), directory.remove()]);
  });

  const runCommands = (commands: string) => {
    const path = [dirname(findPostgresProgram('pg_restore')), process.env.PATH].join(delimiter);
    execFileSync('sh', ['-e', '-c', commands], {
      env: {
        ...env,
        PATH: path,
        MAINTENANCE_URL: `${postgres.url}/postgres`,
        DATABASE_OWNER: new URL(postgres.url).username,
      },
      cwd: directory.path,
      stdio: 'pipe',
    });
  };
  const create = () =>
    client.call(replica.port, { method: 'POST', body: ANIMAL, headers: { 'idempotency-key': 'create-rex' } });
  const parseId = (body: string) => (JSON.parse(body) as { id: number }).id;

  /** Reads all stored data as clients and the operator see it. */
  const readEverything = async () => {
    const first = await client.call(replica.port, { path: '/v1/pets?limit=10' });
    const next = /<(.+?)>; rel="next"/.exec(first.headers.link ?? '')?.[1] ?? '';
    const second = await client.call(replica.port, { path: next });
    const one = await client.call(replica.port, { path: '/v1/pets/31' });
    const repeated = await create();
    const rejected = await revoked.call(replica.port);
    return {
      pages: [first, second].map(({ status, body, headers: { link } }) => ({ status, body, link })),
      one: { status: one.status, body: one.body },
      repeated: { status: repeated.status, body: repeated.body, replayed: repeated.headers['idempotent-replayed'] },
      rejected: [rejected.status, getErrorCode(rejected)],
      limit: first.headers['x-ratelimit-limit'],
      audit: await readJson<object[]>('audit', env),
    };
  };

  it('returns the same data as before: pages, an animal, a retried creation, keys, plans and the audit trail', async () => {
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
    expect(await readJson('migrate', env)).toEqual([]);
  });

  it('leaves only the keys of other applications in Redis', () => {
    expect(keysLeft).toEqual(['other:app']);
  });

  it('is in the state of the backup, and assigns the next IDs from there', async () => {
    expect((await client.call(replica.port, { path: `/v1/pets/${lastId}` })).status).toBe(404);
    expect(parseId((await client.add(replica.port, 'Mia')).body)).toBe(lastId);
  });

  it.each([`UPDATE audit_entries SET operator = 'x'`, 'DELETE FROM audit_entries', 'TRUNCATE audit_entries'])(
    'still rejects %s',
    async (sql) => {
      await expect(store.query(sql)).rejects.toThrow('audit_entries is append-only');
    },
  );

  it('accepts new accounts and keys, which do not inherit the usage of earlier ones with the same IDs', async () => {
    const key = await store.createKey('free');
    const customer = new Client(key);
    const { status, headers } = await customer.call(replica.port);
    expect([status, headers['x-ratelimit-remaining']]).toEqual([200, '59']);
    customer.close();
    expect(await readJson('audit --limit 1', env)).toMatchObject([{ action: 'key_created' }]);
  });
});
