import { appendFile, cp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBrokenRules } from '../support/migration-rules';
import { createTemporaryDirectory, Program } from '../support/process';
import { Client } from './support/client';
import { startGateway } from './support/gateway';
import { startLoad } from './support/load';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

const PROJECT = join(__dirname, '../..');
const REPLICAS = 3;
/** A migration that changes every table that requests use, within the rules for migrations. */
const NEXT_SQL = `
  ALTER TABLE accounts ADD COLUMN note text;
  ALTER TABLE api_keys ADD COLUMN note text NOT NULL DEFAULT '';
  ALTER TABLE pets ADD COLUMN note text NOT NULL DEFAULT '',
    ADD CONSTRAINT pets_note_check CHECK (char_length(note) < 256) NOT VALID;
  ALTER TABLE idempotency_records ADD COLUMN note text;
  CREATE INDEX IF NOT EXISTS pets_category_id ON pets (category_id);
`;

/** Builds the next version: this one with another migration. */
async function buildNextVersion(directory: string): Promise<void> {
  await cp(join(PROJECT, 'dist'), join(directory, 'dist'), { recursive: true });
  await cp(join(PROJECT, 'package.json'), join(directory, 'package.json'));
  await symlink(join(PROJECT, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(
    join(directory, 'dist/src/next.migration.js'),
    `exports.Next4102444800000 = class Next4102444800000 {
       up(runner) { return runner.query(${JSON.stringify(NEXT_SQL)}); }
     };`,
  );
  await appendFile(
    join(directory, 'dist/src/typeorm.config.js'),
    `
     const config = exports.createTypeOrmConfig;
     exports.createTypeOrmConfig = (settings) => {
       const { migrations, ...rest } = config(settings);
       return { ...rest, migrations: [...migrations, require('./next.migration').Next4102444800000] };
     };`,
  );
}

/**
 * Upgrades from this version to the next one and back. If UPGRADE_FROM names the directory of an older, built version, upgrades
 * from that to this one and back.
 */
describe('An upgrade', () => {
  let versions: { readonly old: string; readonly new: string };
  let servers: [postgres: Server, redis: Server];
  let replicas: Replica[];
  let gateway: Server;

  beforeAll(async () => {
    const { path: directory } = await createTemporaryDirectory();
    const from = process.env.UPGRADE_FROM;
    if (from === undefined) {
      await buildNextVersion(directory);
    }
    versions = from === undefined ? { old: PROJECT, new: directory } : { old: from, new: PROJECT };
    servers = await Promise.all([Server.startPostgres(), Server.startRedis()]);
    const env = { DATABASE_URL: servers[0].url, REDIS_URL: servers[1].url, TRUST_PROXY: '1', DRAIN_SECONDS: '2' };
    replicas = [await Replica.start(env, versions.old)];
    await eventually(20_000, async () => (await replicas[0]?.isReady()) ?? false);
    while (replicas.length < REPLICAS) {
      replicas.push(await Replica.start(env, versions.old));
    }
    gateway = await startGateway(replicas.map(({ port }) => port));
  });

  /** Uses the command line of the old version, because the tables are not migrated yet. */
  const createUnlimitedKey = async () => {
    const env = { APP_ENV: 'production', DATABASE_URL: servers[0].url };
    const runPetstore = (line: string) => new Program('cli/main.js', line.split(' '), env, versions.old).exit;
    await runPetstore('accounts create --name Acme --plan enterprise --per-minute 1000000 --per-day 10000000');
    return (JSON.parse((await runPetstore('keys create --account 1 --json')).stdout) as { key: string }).key;
  };

  it('and the rollback lose no request, although both versions use the new schema', async () => {
    expect(findBrokenRules([NEXT_SQL])).toEqual([]);
    const client = new Client(await createUnlimitedKey());
    const load = startLoad(6, (worker, count) => {
      const name = `${worker}-${count}`;
      return count % 3 === 0
        ? client.call(gateway.port)
        : client.add(gateway.port, name, count % 3 === 1 ? {} : { 'idempotency-key': name });
    });
    const replaceAll = async (version: string) => {
      for (const [index, replica] of replicas.entries()) {
        expect((await replica.program.kill('SIGTERM')).code).toBe(0);
        const next = await replica.restart(version);
        replicas[index] = next;
        // The gateway may take a while before it sends requests to the new replica.
        await eventually(20_000, () => next.program.stdout.includes('"event.action":"request"'));
      }
    };
    await replaceAll(versions.new);
    await replaceAll(versions.old);
    const replies = await load.end();
    const failed = replies.filter(({ status }) => status !== 200 && status !== 201);
    expect(failed.map(({ status, body }) => `${status} ${body}`)).toEqual([]);
    expect(replies.length).toBeGreaterThan(500);
    const store = await Store.open(servers[0].url);
    const [{ count } = { count: '' }] = await store.query<{ count: string }[]>('SELECT count(*) FROM pets');
    expect(Number(count)).toBe(replies.filter(({ status }) => status === 201).length);
    process.stdout.write(`${replies.length} requests, none failed.\n`);
  }, 300_000);
});
