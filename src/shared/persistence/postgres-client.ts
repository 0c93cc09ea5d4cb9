// Before `pg` is loaded.
import './navigator';
import { getErrorCode } from '../domain/error-message';
import { Client, type ClientBase, type Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';

/** The error of `pg` for a query without a response within `query_timeout`. */
const READ_TIMEOUT_MESSAGE = 'Query read timeout';
const READ_ONLY = '25006';
/** A connection is unusable after a read-only server error or the loss of a prepared statement. */
const CLOSES_CONNECTION = new Set<string | undefined>([READ_ONLY, '26000']);

/** A connection whose errors never crash the process, and which is closed after a failure that would recur on it. */
export class PostgresClient extends Client {
  private isEnding = false;

  constructor(...args: ConstructorParameters<typeof Client>) {
    super(...args);
    // Pending queries receive the error too. Without a listener, a broken connection would crash the process.
    this.on('error', () => undefined);
  }

  override query = ((...args: [string]) => {
    const result: unknown = super.query(...args);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        const closes =
          error instanceof Error &&
          (CLOSES_CONNECTION.has(getErrorCode(error)) || error.message === READ_TIMEOUT_MESSAGE);
        // Once, because many queries of a pipeline can fail together, and each call adds listeners.
        if (closes && !this.isEnding) {
          this.isEnding = true;
          void this.end();
        }
      });
    }
    return result;
  }) as Client['query'];
}

/**
 * Accepts a new connection to the pool of a primary only if the server is a primary: after a failover, a host name may point to a standby.
 * @param parameters session parameters, set here because poolers such as PgBouncer reject most of them in the startup message
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
    throw Object.assign(new Error('The server is a read-only standby'), { code: READ_ONLY });
  }
}

/** Returns the maximum number of connections of the pool. */
export function getPoolMax({ options }: DataSource): number {
  return (options as { readonly poolSize?: number }).poolSize ?? 1;
}

/** Returns TypeORM's `pg` pool; undefined before the first connection. */
export function getPool({ isInitialized, driver }: DataSource): Pool | undefined {
  return isInitialized ? ((driver as PostgresDriver).master as Pool) : undefined;
}
