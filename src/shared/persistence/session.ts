import { Client, type ClientBase, defaults, type Pool, type PoolConfig, type QueryResult, types } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import type { Settings } from '../../config/settings';
import { MAX_TIME, MIN_TIME } from '../domain/date-time';
import { getErrorCode } from '../domain/error-message';
import { DATABASE_SETTINGS } from './database-settings';
import { markAsConnectError } from './unavailable-error';

/**
 * Everything that the service's statements rely on and that the defaults of a server, a database or a role may change. All other user
 * parameters of `pg_settings` affect speed, logging or storage, or are the operator's choice (`search_path`, `role`, `row_security`).
 * PgBouncer tracks these parameters for each of its clients, in every mode.
 */
const TRACKED_PARAMETERS = {
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  standard_conforming_strings: 'on',
  TimeZone: 'UTC',
};
const OTHER_PARAMETERS = {
  array_nulls: 'on',
  bytea_output: 'hex',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  extra_float_digits: '1',
  idle_session_timeout: '0',
  session_replication_role: 'origin',
  transaction_timeout: '0',
  transform_null_equals: 'off',
};

/** The connections for urgent statements, out of DATABASE_POOL_MAX. */
export const URGENT_CONNECTIONS = 2;
/** Together with the query timeout, this allows a 503 within 2 s while the database is down, frozen or overloaded. */
export const CONNECT_TIMEOUT_MS = 700;
/** How much longer than the server's statement timeout the client waits for the response. */
const QUERY_TIMEOUT_MARGIN_MS = 100;
/** Releases the locks of a replica that disappears during a transaction. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 3_000;
/** How long after a client-side timeout a connection may stay without a response. By then, the server has canceled the statement. */
const MAX_OVERDUE_MS = 500;
/** Connections above the minimum are closed after this time without use. */
const IDLE_TIMEOUT_MS = 5_000;

/** The error of `pg` for a query without a response within `query_timeout`. */
const READ_TIMEOUT_MESSAGE = 'Query read timeout';
const READ_ONLY = '25006';
/** A standby supports no READ WRITE. */
const FEATURE_NOT_SUPPORTED = '0A000';
const DATE_OIDS = new Set<number>([types.builtins.DATE, types.builtins.TIMESTAMP, types.builtins.TIMESTAMPTZ]);

const TIMESTAMP_WITHOUT_ZONE = /^[\d-]+ [\d:.]+$/;

// Sessions are in UTC. `pg` would write and read times without a zone in the zone of the process.
defaults.parseInputDatesAsUTC = true;

export type PostgresServer = 'primary' | 'any';

/** A connection whose errors never crash the process, and that is closed when it cannot be used any longer. */
class PostgresClient extends Client {
  private isEnding = false;

  constructor(...args: ConstructorParameters<typeof Client>) {
    super(...args);
    // Pending queries receive the error too. Without a listener, a broken connection would crash the process.
    this.on('error', () => undefined);
  }

  override query = ((...args: [string]) => {
    const result: unknown = super.query(...args);
    if (!(result instanceof Promise)) {
      return result;
    }
    result.catch((error: unknown) => {
      if (getErrorCode(error) === READ_ONLY) {
        this.endOnce();
      } else if (isReadTimeout(error)) {
        this.endUnlessAnswered();
      }
    });
    return args[0] === 'COMMIT' ? result.then(requireCommit) : result;
  }) as Client['query'];

  /** As the pool calls it. */
  override connect = ((onConnected: (error?: Error) => void) => {
    super.connect((error?: Error) => {
      onConnected(error && markAsConnectError(error));
    });
  }) as Client['connect'];

  /**
   * The result of an overdue statement is still read before the connection runs another statement, because a pooler might otherwise
   * give the result to the next client of its server connection.
   */
  private endUnlessAnswered(): void {
    const timer = setTimeout(() => {
      this.endOnce();
    }, MAX_OVERDUE_MS).unref();
    this.once('drain', () => {
      clearTimeout(timer);
    });
  }

  private endOnce(): void {
    if (!this.isEnding) {
      this.isEnding = true;
      void this.end();
    }
  }
}

/** Also what fails before it connects, such as reading a certificate that is being replaced, is an error of connecting. */
const ConnectingClient = new Proxy(PostgresClient, {
  construct(target, args: ConstructorParameters<typeof Client>) {
    try {
      return new target(...args);
    } catch (error) {
      throw markAsConnectError(error as Error);
    }
  },
});

/** @throws Error when a statement of the transaction has failed: PostgreSQL then rolls it back instead, without an error */
function requireCommit(result: QueryResult): QueryResult {
  if (result.command === 'ROLLBACK') {
    throw new Error('Nothing was stored, because a statement of the transaction has failed: do not catch its error.');
  }
  return result;
}

/** The pool options for every database. */
export const POOL_OPTIONS = {
  idleTimeoutMillis: IDLE_TIMEOUT_MS,
  min: 1,
  maxLifetimeSeconds: 600,
  types: { getTypeParser },
  Client: ConnectingClient,
} satisfies PoolConfig;

/** Returns the pool options for a PostgreSQL server. */
export function createServerPoolOptions(settings: Pick<Settings, 'get'>, server: PostgresServer) {
  const { poolerMode, statementTimeoutMs } = settings.get(DATABASE_SETTINGS);
  const parameters =
    poolerMode === 'transaction'
      ? TRACKED_PARAMETERS
      : { ...TRACKED_PARAMETERS, ...OTHER_PARAMETERS, ...createTimeouts(statementTimeoutMs) };
  return {
    ...POOL_OPTIONS,
    query_timeout: statementTimeoutMs + QUERY_TIMEOUT_MARGIN_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: (client: ClientBase) =>
      openSession(client, parameters, server).catch((error: unknown) => {
        throw markAsConnectError(error as Error);
      }),
  };
}

/**
 * Creates a function that gives the current transaction its own parameters. A pooler in transaction mode keeps none from one transaction to
 * the next. It throws an error with the SQLSTATE of a read-only server on a standby, to which a pooler may point after a failover.
 */
export function createTransactionStart(timeouts: Readonly<Record<string, string>>) {
  const sql = [
    'SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE, NOT DEFERRABLE',
    'SET LOCAL array_nulls = on',
    // Without the triggers, a revoked key would stay valid. Setting it takes a privilege, so only if it is not set.
    `SELECT set_config('session_replication_role', 'origin', true) WHERE current_setting('session_replication_role') <> 'origin'`,
    ...Object.entries(timeouts).map(([name, value]) => `SET LOCAL ${name} = ${value}`),
  ].join('; ');
  return async (runner: Pick<QueryRunner, 'query'>): Promise<void> => {
    try {
      await runner.query(sql);
    } catch (error) {
      throw getErrorCode(error) === FEATURE_NOT_SUPPORTED ? Object.assign(error as Error, { code: READ_ONLY }) : error;
    }
  };
}

/** Returns the timeouts of the service's statements. */
export function createTimeouts(statementTimeoutMs: number) {
  return {
    statement_timeout: `${statementTimeoutMs}`,
    lock_timeout: `${Math.floor(statementTimeoutMs / 2)}`,
    idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
  };
}

/** Whether the response of a statement is overdue. The connection must not be given up before the response. */
export function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === READ_TIMEOUT_MESSAGE;
}

/**
 * Sets the parameters of a new connection: not in the startup packet, because PgBouncer rejects most of them there. Accepts it to the pool
 * of a primary only if the server is a primary: after a failover, a host name may point to a standby.
 * @throws an error with the SQLSTATE of a read-only server
 */
async function openSession(
  client: ClientBase,
  parameters: Readonly<Record<string, string>>,
  server: PostgresServer,
): Promise<void> {
  const rows = Object.entries(parameters).map(([name, value]) => `('${name}', '${value}')`);
  // Some parameters do not exist in older versions of PostgreSQL, and some need a privilege to set them even to the same value.
  const text = `
    SELECT pg_is_in_recovery(), count(set_config(name, value, false))
    FROM (VALUES ${rows.join(', ')}) AS wanted (name, value) WHERE current_setting(name, true) <> value`;
  const { rows: results } = await client.query<[boolean]>({ text, rowMode: 'array' });
  if (server === 'primary' && results[0]?.[0] === true) {
    throw Object.assign(new Error('The server is a read-only standby'), { code: READ_ONLY });
  }
}

/**
 * Like the parsers of `pg`, except for dates. A time without a zone is in UTC. One that cannot be read is an error: `pg` reads it as null,
 * which means that there is no date. `infinity` and `-infinity`, which are numbers for `pg`, become the latest and the earliest time that
 * the service accepts.
 */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  const parse = types.getTypeParser(oid, format === 'binary' ? 'text' : format) as (value: string) => unknown;
  if (!DATE_OIDS.has(oid)) {
    return parse;
  }
  return (value) => {
    const date = parse(TIMESTAMP_WITHOUT_ZONE.test(value) ? `${value}Z` : value);
    if (typeof date === 'number') {
      return new Date(date > 0 ? MAX_TIME : MIN_TIME);
    }
    if (date === null || Number.isNaN(Number(date))) {
      throw new Error(`PostgreSQL returned a date that cannot be read: ${value}`);
    }
    return date;
  };
}

/** Closes a connection that is released during a transaction: nobody would end it, and it would lose what others store. */
export function closeOpenTransactions(pool: Pool | undefined): void {
  pool?.on('release', (_error, client) => {
    if (client.getTransactionStatus() !== 'I') {
      void client.end();
    }
  });
}

/** Returns TypeORM's `pg` pool; undefined before the first connection. */
export function getPool({ isInitialized, driver }: DataSource): Pool | undefined {
  return isInitialized ? ((driver as PostgresDriver).master as Pool) : undefined;
}
