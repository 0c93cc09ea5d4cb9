import {
  DataSource,
  type DataSourceOptions,
  type EntityMetadata,
  MigrationExecutor,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { getErrorCode, getErrorMessage } from '../domain/error-message';
import { createTransactionStart } from './session';
import { quote } from './table-column';
import { DatabaseSetupError, isTemporary, MigrationLockedError, SchemaOutdatedError } from './startup-errors';

/** The advisory lock for schema changes: any number, as long as every replica uses the same one. */
const MIGRATION_LOCK_KEY = 7_383_782;
/**
 * Requests queue behind a migration that waits for a table lock. This timeout is shorter than theirs (0.5 s), so if a migration and a
 * transaction wait for each other's tables, the migration gives up.
 */
const LOCK_TIMEOUT_MS = 200;
const MIGRATION_ROLE_HELP =
  'set DATABASE_MIGRATION_URL to the URL of a role that may change the schema, or run the migrations with that role';
/** Null if there is no such table yet. */
const READ_SETUP = `SELECT current_setting('server_encoding') AS encoding,
  has_table_privilege(to_regclass('migrations'), 'SELECT') AS "isReadable"`;
const UNREADABLE = 'permission denied for table migrations; grant the role the privileges in docs/sql/roles.sql';
/** Only of the transaction: a pooler gives the session to others. */
const MIGRATION_TIMEOUTS = {
  statement_timeout: '0',
  lock_timeout: `${LOCK_TIMEOUT_MS}`,
  idle_in_transaction_session_timeout: '0',
};
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Runs all pending migrations in one transaction on a separate connection, one process at a time. Locks are taken only
 * when migrations are pending and are held until the end of the transaction, so this works through a pooler in
 * transaction mode.
 * @returns the names of the executed migrations; empty if the schema was up to date
 * @throws MigrationLockedError when another session holds a lock and a retry may succeed; DatabaseSetupError
 */
export async function migrate(options: DataSourceOptions): Promise<string[]> {
  if ((await findPending(options)).length === 0) {
    return [];
  }
  return withMigrations(withoutQueryTimeout(options), async (executor, runner) => {
    await runner.startTransaction();
    try {
      await createTransactionStart(MIGRATION_TIMEOUTS)(runner);
      await convertLockTimeout('another process is migrating the schema', () =>
        runner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK_KEY]),
      );
      executor.transaction = 'all';
      runner.dataSource.migrations.forEach(nameInErrors);
      const migrations = await convertLockTimeout(
        'another session, such as a backup, locks a table that a migration changes',
        () => executor.executePendingMigrations(),
      );
      await runner.commitTransaction();
      await checkColumns(runner);
      return migrations.map(({ name }) => name);
    } catch (error) {
      // The connection may be lost; it is closed below in any case.
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    }
  });
}

/** @throws SchemaOutdatedError when migrations are pending; DatabaseSetupError */
export async function checkSchema(options: DataSourceOptions): Promise<void> {
  const pending = await findPending(options);
  if (pending.length > 0) {
    throw new SchemaOutdatedError(pending);
  }
}

type Work<T> = (executor: MigrationExecutor, runner: QueryRunner) => Promise<T>;

/** @returns the names of the pending migrations @throws DatabaseSetupError when there are none, but columns are missing */
function findPending(options: DataSourceOptions): Promise<string[]> {
  return withMigrations(options, async (executor, runner) => {
    const pending = await executor.getPendingMigrations();
    if (pending.length === 0) {
      await checkColumns(runner);
    }
    return pending.map(({ name }) => name);
  });
}

/** For migrations, which may take any time. A connection on which nothing arrives any more would then be waited for without end. */
export function withoutQueryTimeout(options: DataSourceOptions): DataSourceOptions {
  const { extra } = options as { readonly extra?: object };
  return { ...(options as PostgresDataSourceOptions), extra: { ...extra, query_timeout: undefined } };
}

/** Calls `work` with a migration executor on a separate connection. @throws DatabaseSetupError */
export async function withMigrations<T>(options: DataSourceOptions, work: Work<T>): Promise<T> {
  // TypeORM's default logger writes to the console.
  const dataSource = new DataSource({ ...options, logger: 'debug' });
  await dataSource.initialize();
  const runner = dataSource.createQueryRunner();
  try {
    const { records } = await runner.query(READ_SETUP, [], true);
    const { encoding, isReadable } = records[0] as { encoding: string; isReadable: boolean | null };
    if (encoding !== 'UTF8') {
      throw new DatabaseSetupError(
        `its encoding is ${encoding} but must be UTF8 (CREATE DATABASE with ENCODING 'UTF8' TEMPLATE template0)`,
      );
    }
    if (isReadable === false) {
      // TypeORM would not see the table, and take all migrations for pending.
      throw Object.assign(new Error(UNREADABLE), { code: INSUFFICIENT_PRIVILEGE });
    }
    return await work(new MigrationExecutor(dataSource, runner), runner).catch((error: unknown) => {
      throw explainMissingPrivilege(error);
    });
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
}

/** @throws DatabaseSetupError for columns that schemas select or insert but no migration creates */
async function checkColumns(runner: QueryRunner): Promise<void> {
  const { entityMetadatas } = runner.dataSource;
  const getPath = ({ schema, tableName }: EntityMetadata) => [schema ?? [], tableName].flat().map(quote).join('.');
  const { records } = await runner.query(
    `SELECT concat(path, '.', attname) AS name FROM unnest($1::text[]) AS path
     JOIN pg_attribute ON attrelid = to_regclass(path) AND attnum > 0 AND NOT attisdropped`,
    [entityMetadatas.map(getPath)],
    true,
  );
  const existing = new Set((records as { name: string }[]).map(({ name }) => name));
  const missing = entityMetadatas
    .flatMap(({ columns }) => columns.filter((it) => (it.isSelect || it.isInsert) && !it.isVirtualProperty))
    .filter(({ entityMetadata, databaseName }) => !existing.has(`${getPath(entityMetadata)}.${databaseName}`))
    .map(({ entityMetadata, databaseName }) => `${entityMetadata.tablePath}.${databaseName}`);
  if (missing.length > 0) {
    throw new DatabaseSetupError(
      `no migration creates ${missing.join(', ')}; list the migration that does in the index.ts of its module`,
    );
  }
}

/** Makes the error of a migration that can never run name it. */
function nameInErrors(migration: MigrationInterface): void {
  const up = migration.up.bind(migration);
  migration.up = (runner) =>
    up(runner).catch((error: unknown) => {
      throw isTemporary(error)
        ? error
        : new Error(`${migration.constructor.name} failed: ${getErrorMessage(error)}`, { cause: error });
    });
}

async function convertLockTimeout<T>(reason: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw getErrorCode(error) === LOCK_NOT_AVAILABLE ? new MigrationLockedError(reason, { cause: error }) : error;
  }
}

/** Adds how migrations get the privilege that their role lacks. */
function explainMissingPrivilege(error: unknown): unknown {
  const code = getErrorCode(error);
  return code === INSUFFICIENT_PRIVILEGE
    ? Object.assign(new Error(`${getErrorMessage(error)}; ${MIGRATION_ROLE_HELP}`, { cause: error }), { code })
    : error;
}
