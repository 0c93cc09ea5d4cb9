import type { ClientBase, PoolConfig } from 'pg';
import type { Settings } from '../../config/settings';
import { DATABASE_SETTINGS } from './database-settings';
import { openSession, PostgresClient } from './postgres-client';

/** Together with the query timeout, this allows a 503 within 2 s while the database is down, frozen or overloaded. */
export const CONNECT_TIMEOUT_MS = 700;

/** The pool options for every database. */
export const POOL_OPTIONS = {
  // Idle connections stay open, because opening them during a burst would be too slow.
  idleTimeoutMillis: 0,
  maxLifetimeSeconds: 600,
  pipeline: true,
  Client: PostgresClient,
} satisfies PoolConfig;

/** Returns the pool options for a PostgreSQL server. */
export function createServerPoolOptions(settings: Pick<Settings, 'get'>, server: 'primary' | 'any') {
  const { poolerMode, statementTimeoutMs } = settings.get(DATABASE_SETTINGS);
  // A pooler in transaction mode shares server connections between clients: there, the database role must have these timeouts.
  const timeouts = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.floor(statementTimeoutMs / 2),
    // Releases the locks of a replica that disappears during a transaction.
    idle_in_transaction_session_timeout: 3_000,
  };
  return {
    query_timeout: statementTimeoutMs + 100,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: (client: ClientBase) => openSession(client, poolerMode === 'session' ? timeouts : {}, server),
  };
}
