import { DataSource, type DataSourceOptions, MigrationExecutor, type QueryRunner } from 'typeorm';
import { PostgresClient, sqlState } from './postgres-client';
import { DatabaseSetupError, MigrationLockedError, SchemaOutdatedError } from './startup-errors';

/** Any number, as long as every replica uses the same: the advisory lock under which the schema changes. */
const MIGRATION_LOCK = 7_383_782;
/** While a migration waits for a table, requests queue behind it: less than the time that a statement may take. */
const LOCK_TIMEOUT_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';

/** A connection without the timeouts of requests: a migration may take longer. */
export const MIGRATION_CONNECTION = { keepAlive: true, Client: PostgresClient };

/**
 * Brings the schema up to date on a connection of its own, one process at a time, all pending migrations in one
 * transaction. It takes locks only when migrations are pending, and only until the end of the transaction, so that it
 * works through a pooler in transaction mode.
 * @returns the names of the migrations that ran, none when the schema was up to date.
 * @throws MigrationLockedError when another session keeps a lock: try again later; DatabaseSetupError
 */
export function migrate(options: DataSourceOptions): Promise<string[]> {
  return withCheckedColumns(options, async (executor, runner) => {
    if ((await executor.getPendingMigrations()).length === 0) {
      return [];
    }
    await runner.startTransaction();
    try {
      await runner.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await orLocked('another process is migrating the schema', () =>
        runner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]),
      );
      executor.transaction = 'all';
      const migrations = await orLocked(
        'another session, such as a backup, locks a table that a migration changes',
        () => executor.executePendingMigrations(),
      );
      await runner.commitTransaction();
      return migrations.map(({ name }) => name);
    } catch (error) {
      // The connection may be lost; it is closed in any case.
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    }
  });
}

/** @throws SchemaOutdatedError when migrations are pending; DatabaseSetupError */
export function checkSchema(options: DataSourceOptions): Promise<void> {
  return withCheckedColumns(options, async (executor) => {
    const pending = await executor.getPendingMigrations();
    if (pending.length > 0) {
      throw new SchemaOutdatedError(pending.map(({ name }) => name));
    }
  });
}

type Work<T> = (executor: MigrationExecutor, runner: QueryRunner) => Promise<T>;

/** @throws DatabaseSetupError when columns are missing after the work */
function withCheckedColumns<T>(options: DataSourceOptions, work: Work<T>): Promise<T> {
  return withMigrations(options, async (executor, runner) => {
    const result = await work(executor, runner);
    await checkColumns(runner);
    return result;
  });
}

/** Works with the migrations of the database, on a connection of its own. @throws DatabaseSetupError */
export async function withMigrations<T>(options: DataSourceOptions, work: Work<T>): Promise<T> {
  // TypeORM's other logger writes to the console.
  const dataSource = new DataSource({ ...options, extra: MIGRATION_CONNECTION, logger: 'debug' });
  await dataSource.initialize();
  const runner = dataSource.createQueryRunner();
  try {
    const { records } = await runner.query('SHOW server_encoding', [], true);
    const { server_encoding: encoding } = records[0] as { server_encoding: string };
    if (encoding !== 'UTF8') {
      throw new DatabaseSetupError(
        `its encoding is ${encoding}, and must be UTF8 (CREATE DATABASE with ENCODING 'UTF8' TEMPLATE template0)`,
      );
    }
    return await work(new MigrationExecutor(dataSource, runner), runner);
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
}

/** @throws DatabaseSetupError for columns that schemas map and no migration has made */
async function checkColumns(runner: QueryRunner): Promise<void> {
  const { entityMetadatas } = runner.dataSource;
  const { records } = await runner.query(
    `SELECT concat(relname, '.', attname) AS name FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relname = ANY ($1) AND pg_table_is_visible(attrelid) AND attnum > 0 AND NOT attisdropped`,
    [entityMetadatas.map(({ tableName }) => tableName)],
    true,
  );
  const existing = new Set((records as { name: string }[]).map(({ name }) => name));
  const missing = entityMetadatas
    .flatMap(({ tableName, columns }) => columns.map(({ databaseName }) => `${tableName}.${databaseName}`))
    .filter((name) => !existing.has(name));
  if (missing.length > 0) {
    throw new DatabaseSetupError(
      `no migration has made ${missing.join(', ')}; list the one that does in src/typeorm.config.ts`,
    );
  }
}

async function orLocked<T>(reason: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new MigrationLockedError(reason, { cause: error }) : error;
  }
}
