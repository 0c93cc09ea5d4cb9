import type { DataSourceOptions, MigrationInterface, QueryRunner } from 'typeorm';
import { getErrorMessage } from '../domain/error-message';
import { withMigrations, withoutQueryTimeout } from './migrate';

/** `unknown` marks a migration that this version does not have, because a newer version applied it. */
export type MigrationState = 'applied' | 'pending' | 'unknown';

const READ_STATEMENT = /^\s*(SELECT|SHOW)\b/i;

export interface MigrationStatus {
  readonly migration: string;
  readonly state: MigrationState;
}

export interface PlannedMigration {
  readonly migration: string;
  readonly statements: readonly string[];
}

/** Lists the migrations in the database and in this version, in execution order. Changes nothing. */
export function readMigrationStatus(options: DataSourceOptions): Promise<MigrationStatus[]> {
  return withMigrations(options, async (executor, runner) => {
    const known = new Set(runner.dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name));
    const executed = await executor.getExecutedMigrations();
    const pending = await executor.getPendingMigrations();
    return [
      ...executed.reverse().map(({ name }) => ({
        migration: name,
        state: known.has(name) ? ('applied' as const) : ('unknown' as const),
      })),
      ...pending.map(({ name }) => ({ migration: name, state: 'pending' as const })),
    ];
  });
}

/**
 * Lists the statements of the pending migrations. Runs only statements that read, and takes no locks. What follows after such a statement has
 * failed, as on a table of an earlier pending migration, is not known.
 */
export async function planMigrations(options: DataSourceOptions): Promise<PlannedMigration[]> {
  const pending = await withMigrations(options, (executor) => executor.getPendingMigrations());
  const plan: PlannedMigration[] = [];
  for (const { name: migration, instance } of pending) {
    // Each on its own connection, which a failed statement may end.
    const statements: string[] = [];
    await withMigrations(withoutQueryTimeout(options), async (_, runner) => {
      await runner.query('START TRANSACTION READ ONLY; SET LOCAL statement_timeout = 0');
      try {
        await (instance && collectStatements(instance, runner, statements));
      } catch (error) {
        statements.push(`-- The rest is unknown: ${getErrorMessage(error).replace(/\s+/g, ' ')}`);
      }
    });
    plan.push({ migration, statements });
  }
  return plan;
}

/**
 * Adds the statements of a migration to a list. Only statements that read are run, because the migration may need their results.
 * @throws the error of a statement that reads, or of the migration
 */
export async function collectStatements(
  migration: MigrationInterface,
  runner: QueryRunner,
  statements: string[],
): Promise<void> {
  // TypeORM's own methods, such as `createTable`, record their statements in memory.
  const collectFromMemory = () => {
    statements.push(...runner.getMemorySql().upQueries.map(({ query }) => unindent(query)));
    runner.clearSqlMemory();
  };
  const query = (sql: string, ...rest: []) => {
    if (READ_STATEMENT.test(sql)) {
      return runner.query(sql, ...rest);
    }
    collectFromMemory();
    statements.push(unindent(sql));
    return Promise.resolve([]);
  };
  const get = (target: QueryRunner, name: string): unknown => (name === 'query' ? query : Reflect.get(target, name));
  runner.enableSqlMemory();
  try {
    await migration.up(new Proxy(runner, { get: get as ProxyHandler<QueryRunner>['get'] }));
  } finally {
    collectFromMemory();
    runner.disableSqlMemory();
  }
}

/** Removes the indentation that all lines share. */
function unindent(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const indents = lines.slice(text.startsWith('\n') ? 0 : 1).map((line) => line.search(/\S/));
  const shared = indents.length === 0 ? 0 : Math.min(...indents);
  return lines
    .map((line) => line.slice(Math.min(shared, line.search(/\S/))))
    .join('\n')
    .trimEnd();
}
