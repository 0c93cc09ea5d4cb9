import { DataSource, MigrationExecutor, type DataSourceOptions } from 'typeorm';

/** Any number, as long as every replica uses the same: the advisory lock under which the schema changes. */
const MIGRATION_LOCK = 7_383_782;

/**
 * Brings the schema up to date on a connection of its own, one process at a time, all pending migrations in one
 * transaction.
 * @returns the names of the migrations that ran, none when the schema was up to date.
 */
export async function migrate(options: DataSourceOptions): Promise<string[]> {
  // Without the time-outs of requests: waiting for the lock, or a migration, may take longer.
  const dataSource = new DataSource({ ...options, extra: {} });
  await dataSource.initialize();
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'all';
    const migrations = await executor.executePendingMigrations();
    return migrations.map(({ name }) => name);
  } finally {
    // Ending the session gives the lock back.
    await runner.release();
    await dataSource.destroy();
  }
}
