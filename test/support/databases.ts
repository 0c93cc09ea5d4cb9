import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { loadSettings } from '../../src/config/settings';
import { EmbeddedDatabase, getEmbeddedDatabaseHost } from '../../src/shared/persistence/embedded/embedded-database';
import { migrate } from '../../src/shared/persistence/migrate';
import { createTypeOrmConfig } from '../../src/typeorm.config';

const ROLES = join(__dirname, '../../docs/sql/roles.sql');
const TEMPLATE = join(__dirname, '../../dist/src/shared/persistence/embedded/embedded-template');

/** A migrated database for the tests of one worker. */
export interface TestDatabase {
  /** The URL that the service uses. */
  readonly url: string;
  readonly adminUrl: string;
  remove(): Promise<void>;
}

/** Creates a database on a PostgreSQL server, with the roles of docs/sql/roles.sql, which any superuser may assume. */
export async function createServerDatabase(serverUrl: string, name: string): Promise<TestDatabase> {
  const run = async (sql: string, connectionString = serverUrl) => {
    const client = new Client({ connectionString });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  const drop = `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`;
  await run(drop);
  await run(`CREATE DATABASE ${name}`);
  const createUrl = (role?: string) => {
    const url = new URL(serverUrl);
    url.pathname = `/${name}`;
    if (role !== undefined) {
      url.searchParams.set('options', `-c role=${role}`);
    }
    return url.href;
  };
  const adminUrl = createUrl();
  const roles = await readFile(ROLES, 'utf8');
  await run(roles, adminUrl);
  await migrate(createTypeOrmConfig(loadSettings({ DATABASE_URL: createUrl('petstore_owner') })));
  await run(roles, adminUrl);
  return { url: createUrl('petstore_app'), adminUrl, remove: () => run(drop) };
}

/** The embedded database. It runs in Jest's main process, because it cannot run inside a test. */
export async function createEmbeddedDatabase(): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  await cp(TEMPLATE, join(dataDir, 'postgres'), { recursive: true });
  const database = await EmbeddedDatabase.open(dataDir);
  const url = `postgres://postgres@localhost/postgres?host=${getEmbeddedDatabaseHost(dataDir)}`;
  await migrate(createTypeOrmConfig(loadSettings({ DATABASE_URL: url, DATA_DIR: dataDir })));
  return {
    url,
    adminUrl: url,
    remove: async () => {
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
