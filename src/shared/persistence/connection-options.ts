import type { ClientBase, PoolConfig } from 'pg';
import type { Settings } from '../../config/settings';
import { DATABASE_SETTINGS } from './database-settings';
import { openSession, PostgresClient } from './postgres-client';

/** With the query timeout, it responds 503 within 2 s when the database is down, frozen or overloaded. */
export const CONNECT_TIMEOUT_MS = 700;

/** How a pool keeps connections, to whatever database. */
export const CONNECTION_OPTIONS = {
  // Connections are kept: to open them in the middle of a burst is what would make it too slow.
  idleTimeoutMillis: 0,
  maxLifetimeSeconds: 600,
  pipeline: true,
  Client: PostgresClient,
} satisfies PoolConfig;

/** How a pool uses the connections to a PostgreSQL server. */
export function serverOptions(settings: Pick<Settings, 'of'>, server: 'primary' | 'any') {
  const { poolerMode, statementTimeoutMs } = settings.of(DATABASE_SETTINGS);
  // In transaction mode, they would be set on connections of the server that others use too: there, the role has them.
  const timeouts = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.floor(statementTimeoutMs / 2),
    // What a replica that vanished in a transaction had locked is free again after this.
    idle_in_transaction_session_timeout: 3_000,
  };
  return {
    query_timeout: statementTimeoutMs + 100,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: (client: ClientBase) => openSession(client, poolerMode === 'session' ? timeouts : {}, server),
  };
}
