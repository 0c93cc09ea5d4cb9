import { Client, type ClientBase, type Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';

/** A query that PostgreSQL did not respond to within `query_timeout`, as `pg` reports it. */
const READ_TIMEOUT_MESSAGE = 'Query read timeout';
const READ_ONLY = '25006';
/** A connection is of no use once it met a read-only server, or lost a statement that it had prepared. */
const SPENT = new Set<string | undefined>([READ_ONLY, '26000']);

/** A connection that never ends the process, and that no request gets after a failure that would repeat itself on it. */
export class PostgresClient extends Client {
  constructor(...args: ConstructorParameters<typeof Client>) {
    super(...args);
    // Whoever waits for a response gets the error too; without a listener, a severed connection would end the process.
    this.on('error', () => undefined);
  }

  override query = ((...args: [string]) => {
    const result: unknown = super.query(...args);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        if (error instanceof Error && (SPENT.has(sqlState(error)) || error.message === READ_TIMEOUT_MESSAGE)) {
          void this.end();
        }
      });
    }
    return result;
  }) as Client['query'];
}

/**
 * Lets a new connection into the pool of a primary only if it leads to one: after a failover, a name may point to a standby.
 * @param parameters of the session, set here because poolers such as PgBouncer reject most of them in the startup message
 * @throws an error with the SQLSTATE of a read-only server
 */
export async function openSession(
  client: ClientBase,
  parameters: Readonly<Record<string, number>>,
  server: 'primary' | 'any',
): Promise<void> {
  const settings = Object.entries(parameters).map(([name, value]) => `, set_config('${name}', '${value}', false)`);
  const text = `SELECT pg_is_in_recovery()${settings.join('')}`;
  const { rows } = await client.query<[boolean]>({ text, rowMode: 'array' });
  if (server === 'primary' && rows[0]?.[0] === true) {
    throw Object.assign(new Error('The server is a standby, which cannot be written to'), { code: READ_ONLY });
  }
}

/** The most connections that the pool may open. */
export function getPoolMax({ options }: DataSource): number {
  return (options as { readonly poolSize?: number }).poolSize ?? 1;
}

/** The pool of `pg` that TypeORM uses; undefined before the first connection. */
export function getPool({ isInitialized, driver }: DataSource): Pool | undefined {
  return isInitialized ? ((driver as PostgresDriver).master as Pool) : undefined;
}

/** The SQLSTATE of a statement's failure, or the code of a network failure. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error ? (error as Error & { readonly code?: string }).code : undefined;
}
