import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { loadSettings } from '../../src/config/settings';
import { EmbeddedDatabase, embeddedDatabaseHost } from '../../src/shared/persistence/embedded/embedded-database';
import { migrate } from '../../src/shared/persistence/migrate';
import { typeOrmConfig } from '../../src/typeorm.config';

const TEMPLATE = join(__dirname, '../../dist/src/shared/persistence/embedded/embedded-template');

/** A migrated database for the tests of one worker. */
export interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** A separate database on a real PostgreSQL server. */
export async function serverDatabase(serverUrl: string, name: string): Promise<TestDatabase> {
  const run = async (sql: string) => {
    const client = new Client({ connectionString: serverUrl });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  const drop = `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`;
  await run(drop);
  await run(`CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(typeOrmConfig(loadSettings({ DATABASE_URL: url.href })));
  return { url: url.href, remove: () => run(drop) };
}

/** The embedded database, which cannot run inside a test: it runs in Jest's main process. */
export async function embeddedDatabase(): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  await cp(TEMPLATE, join(dataDir, 'postgres'), { recursive: true });
  const database = await EmbeddedDatabase.open(dataDir);
  const url = `postgres://postgres@localhost/postgres?host=${embeddedDatabaseHost(dataDir)}`;
  await migrate(typeOrmConfig(loadSettings({ DATABASE_URL: url, DATA_DIR: dataDir })));
  return {
    url,
    remove: async () => {
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
