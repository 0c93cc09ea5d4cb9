import { randomBytes } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Pool, type PoolClient, type PoolConfig, type QueryArrayResult } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';
import { Settings } from '../../config/settings';
import { getErrorCode } from '../domain/error-message';
import { DATABASE_SETTINGS } from './database-settings';
import { getPool, isReadTimeout, URGENT_CONNECTIONS } from './session';
import { TypeOrmUnitOfWork } from './typeorm-unit-of-work';
import {
  createNotConnectedError,
  convertUnavailableError,
  isConnectionLost,
  PROTOCOL_VIOLATION,
} from './unavailable-error';
import { logEvent } from '../log-events';

/** An SQL statement that each connection prepares once under its name, unless a pooler runs in transaction mode. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The names of the columns of the result, in order. */
  readonly columns: readonly string[];
  /** Whether it runs on the connections that other statements never occupy: every request may wait for it. */
  readonly isUrgent?: true;
}

/** The columns of a row in statement order; a bigint is returned as text. */
export type Row = readonly unknown[];

/** A statement parameter; a bigint is sent as its decimal digits. */
export type Parameter = string | number | bigint | Buffer | null | readonly (string | number | bigint | Buffer)[];

/** A statement is repeated only within this time, so that a 503 is sent within 2 s. Several connections can be lost at once. */
const MAX_REPEAT_MS = 400;
const PLAN_CHANGED = '0A000';
/** The server connection has not prepared the statement, or another connection has: a pooler switches server connections. */
const LOST_PREPARED_STATEMENT = new Set<string | undefined>(['26000', '42P05']);
/** The statement changed nothing: it conflicted with another transaction, under an isolation level that the service does not use. */
const SERIALIZATION_FAILURE = '40001';

/**
 * Runs hand-written statements, prepared, which take less than half the CPU time of a TypeORM query. A connection never has more than one
 * statement without a response.
 */
@Injectable()
export class Statements {
  private readonly logger = new Logger(Statements.name);
  private readonly urgentPool: Pool;
  private isPrepared: boolean;
  /** Makes statement names unique, also after a plan has become invalid. */
  private readonly suffixes = new WeakMap<PoolClient, string>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: TypeOrmUnitOfWork,
    settings: Settings,
  ) {
    // All connections to the embedded database share one session, which would keep the statements of closed connections.
    this.isPrepared = settings.databaseUrl !== undefined && settings.get(DATABASE_SETTINGS).poolerMode === 'session';
    this.urgentPool = createPool({
      ...createPoolConfig(dataSource.options as PostgresDataSourceOptions),
      max: URGENT_CONNECTIONS,
    });
  }

  /** The number of used and idle connections, and of pending requests for a connection. */
  get poolState(): { readonly used: number; readonly idle: number; readonly pendingRequests: number } {
    const pools = [this.urgentPool, getPool(this.dataSource)].filter((pool) => pool !== undefined);
    const sum = (count: (pool: Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
    return {
      used: sum(({ totalCount, idleCount }) => totalCount - idleCount),
      idle: sum(({ idleCount }) => idleCount),
      pendingRequests: sum(({ waitingCount }) => waitingCount) + this.unitOfWork.writeSemaphore.waitingCount,
    };
  }

  /**
   * Runs a read statement, in the current transaction if there is one. Repeats it after a lost connection.
   * @throws ServiceUnavailableError
   */
  read(statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    return this.run(statement, parameters, isConnectionLost);
  }

  /**
   * Runs a write statement, in the current transaction or in its own. Callers outside a transaction limit concurrency with
   * `writeSemaphore`.
   * @throws ServiceUnavailableError
   */
  write(statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    // The transaction of a single statement would have the defaults of the database.
    const needsStart = this.unitOfWork.startTransaction !== undefined && this.unitOfWork.transaction === undefined;
    return needsStart
      ? convertUnavailableError(() =>
          this.unitOfWork.runTransaction((manager) => queryInTransaction(manager, statement, parameters)),
        )
      : this.run(statement, parameters, () => false);
  }

  /** Runs a read statement on another server. @throws the error of `pg` */
  readFrom(pool: Pool, statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    return this.runOnPool(pool, statement, parameters, isConnectionLost);
  }

  async close(): Promise<void> {
    if (!this.urgentPool.ending) {
      await this.urgentPool.end();
    }
  }

  private run(
    statement: Statement,
    parameters: Parameter[],
    isRepeatable: (error: unknown) => boolean,
  ): Promise<Row[]> {
    return convertUnavailableError(async () => {
      const { transaction } = this.unitOfWork;
      if (transaction !== undefined) {
        return queryInTransaction(transaction, statement, parameters);
      }
      const pool = getPool(this.dataSource);
      if (pool === undefined) {
        throw createNotConnectedError();
      }
      return this.runOnPool(statement.isUrgent ? this.urgentPool : pool, statement, parameters, isRepeatable);
    });
  }

  private async runOnPool(
    pool: Pool,
    statement: Statement,
    parameters: Parameter[],
    isRepeatable: (error: unknown) => boolean,
  ): Promise<Row[]> {
    const startedAt = performance.now();
    for (;;) {
      const client = await pool.connect();
      try {
        const rows = await this.runOn(client, statement, parameters);
        requireNoTransaction(client);
        client.release();
        return rows;
      } catch (error) {
        releaseAfterResponse(client, error);
        const isLate = performance.now() - startedAt > MAX_REPEAT_MS;
        if (isLate || !(isRepeatable(error) || getErrorCode(error) === SERIALIZATION_FAILURE)) {
          throw error;
        }
      }
    }
  }

  /** Runs a statement, a second time if the connection cannot use what it has prepared: PostgreSQL has not executed it. */
  private runOn(client: PoolClient, statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    const run = () =>
      query(client, statement, parameters, this.isPrepared ? this.getName(client, statement) : undefined);
    return run().catch((error: unknown) => {
      if (!this.preparesAgain(client, error)) {
        throw error;
      }
      return run();
    });
  }

  private getName(client: PoolClient, { name }: Statement): string {
    let suffix = this.suffixes.get(client);
    if (suffix === undefined) {
      suffix = randomBytes(6).toString('hex');
      this.suffixes.set(client, suffix);
    }
    return `${name}_${suffix}`;
  }

  /** Whether the statement failed because of what the connection has prepared, which is then no longer used. */
  private preparesAgain(client: PoolClient, error: unknown): boolean {
    const code = getErrorCode(error);
    if (code === PLAN_CHANGED) {
      this.suffixes.delete(client);
    } else if (LOST_PREPARED_STATEMENT.has(code) && this.isPrepared) {
      this.isPrepared = false;
      logEvent(
        this.logger,
        'prepared_statements_lost',
        'A connection pooler lost a prepared statement: this replica no longer prepares statements. ' +
          'Set DATABASE_POOLER_MODE=transaction if the pooler runs in transaction mode.',
      );
    }
    return code === PLAN_CHANGED || LOST_PREPARED_STATEMENT.has(code);
  }
}

/** Creates a pool whose idle connections may be closed by the server. */
export function createPool(config: PoolConfig): Pool {
  const pool = new Pool(config);
  // Without a listener, the process would crash when the server closes an idle connection.
  pool.on('error', () => undefined);
  return pool;
}

function createPoolConfig(options: PostgresDataSourceOptions): PoolConfig {
  const { url, host, port, username, database, applicationName, connectTimeoutMS } = options;
  // TypeORM does not type it as `pg` does.
  const { extra } = options as { readonly extra?: PoolConfig };
  return {
    ...(url === undefined ? { host, port, user: username, database } : { connectionString: url }),
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMS,
    ...extra,
  };
}

/** Not prepared: after an error, a transaction cannot go on. */
async function queryInTransaction(
  manager: EntityManager,
  statement: Statement,
  parameters: Parameter[],
): Promise<Row[]> {
  const client = (await (manager.queryRunner as PostgresQueryRunner).connect()) as PoolClient;
  return query(client, statement, parameters);
}

/** @throws an error of the connection when the result is that of another statement, such as one that a client of a pooler gave up */
async function query(client: PoolClient, statement: Statement, values: Parameter[], name?: string): Promise<Row[]> {
  const { text, columns } = statement;
  const { fields, rows }: QueryArrayResult = await client.query({ name, text, values, rowMode: 'array' });
  if (fields.length !== columns.length || fields.some((field, index) => field.name !== columns[index])) {
    throw Object.assign(new Error(`The connection returned a result that is not of the statement ${statement.name}`), {
      code: PROTOCOL_VIOLATION,
    });
  }
  return rows;
}

/** @throws an error of the connection when a pooler has handed over an open transaction: a write would not be stored */
function requireNoTransaction(client: PoolClient): void {
  if (client.getTransactionStatus() !== 'I') {
    throw Object.assign(new Error('The connection was in a transaction'), { code: PROTOCOL_VIOLATION });
  }
}

/** Releases a connection: after an overdue response only once it has arrived, and closed if its state is unknown. */
function releaseAfterResponse(client: PoolClient, error: unknown): void {
  if (isReadTimeout(error)) {
    let isReleased = false;
    const release = () => {
      if (!isReleased) {
        isReleased = true;
        client.release(true);
      }
    };
    client.once('drain', release);
    client.once('end', release);
  } else {
    client.release(isConnectionLost(error));
  }
}
