import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import type { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';
import { Settings } from '../../config/settings';
import { ServiceUnavailable } from '../domain/pet-store-error';
import { reasonOf } from '../domain/reason';
import { EmbeddedDatabase } from './embedded-database';
import { checkSchema, migrate } from './migrate';
import { ReadPipeline } from './read-pipeline';
import { Semaphore } from './semaphore';
import { DatabaseSetupError, mayHeal } from './startup-errors';
import { type Parameter, query, type ReadStatement, type Row, type Statement } from './statements';
import { orUnavailable } from './unavailable';

const RETRY_MS = 1_000;
/** How often the log repeats why the database cannot be used yet. */
const REMINDER_MS = 60_000;

/** Half of the pool: the other half reads while all that writes waits for a lock. */
const MAX_WRITERS = 5;
/** With the second that a statement may take, less than 2 s. */
const MAX_WAIT_FOR_WRITING_MS = 850;

/** Beside look-ups of API keys, without which no request can be served either: it is not held up by other tables. */
const IN_RECOVERY = { name: 'in_recovery', table: 'api_keys', text: 'SELECT pg_is_in_recovery()' };

/**
 * Opens the database when the application starts (the embedded one where no `DATABASE_URL` is set), migrates it, and
 * closes it after the last request. Away from development, it tries again every second after a failure that may heal:
 * the replica lives, and is not ready.
 */
@Injectable()
export class Database implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Database.name);
  protected embedded: EmbeddedDatabase | undefined;
  private readonly stopping = new AbortController();
  private pool: Pool | undefined;
  /** Bounds how many connections write at once. */
  readonly writers = new Semaphore(MAX_WRITERS, MAX_WAIT_FOR_WRITING_MS);
  private readonly pipelines = new Map<string, ReadPipeline>();
  private opening: Promise<void> | undefined;
  private readonly transactions = new AsyncLocalStorage<EntityManager>();

  private giveUp: (error: Error) => void = () => undefined;
  /** Resolves after the start, when this process can never use the database again. */
  readonly failure = new Promise<Error>((resolve) => (this.giveUp = resolve));

  constructor(
    protected readonly settings: Settings,
    protected readonly dataSource: DataSource,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.settings.databaseUrl === undefined) {
      this.embedded = await EmbeddedDatabase.open(this.settings.dataDir);
      void this.embedded.crashed.then(this.giveUp);
    }
    try {
      await this.open();
    } catch (error) {
      if (this.settings.environment === 'development' || !mayHeal(error)) {
        throw asSetupError(error);
      }
      this.opening = this.openLater(error);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.opening;
    this.pipelines.forEach((pipeline) => {
      pipeline.close();
    });
    if (this.dataSource.isInitialized) {
      await this.dataSource.destroy();
    }
    await this.embedded?.close();
  }

  /** Where a repository sends its queries: the transaction under way, if there is one. */
  get manager(): EntityManager {
    if (this.dataSource.entityMetadatas.length === 0) {
      // TypeORM reads its schemas with the first connection, and would not know any before.
      throw notConnectedYet();
    }
    return this.transactions.getStore() ?? this.dataSource.manager;
  }

  /**
   * Runs work in one transaction, which `manager` gives to all that is called from it: the one under way, if there is one.
   * @throws ServiceUnavailable
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const underWay = this.transactions.getStore();
    if (underWay !== undefined) {
      return work(underWay);
    }
    return orUnavailable(() =>
      this.writers.run(() =>
        this.dataSource.transaction((manager) => this.transactions.run(manager, () => work(manager))),
      ),
    );
  }

  /** Whether the request has a transaction, see `transaction`. */
  get isInTransaction(): boolean {
    return this.transactions.getStore() !== undefined;
  }

  /**
   * Runs a statement that reads, in the transaction under way if there is one.
   * @throws ServiceUnavailable
   */
  read(statement: ReadStatement, parameters: Parameter[]): Promise<Row[]> {
    return this.run(statement, parameters, (pool) => this.pipeline(pool, statement.table).query(statement, parameters));
  }

  /**
   * Runs a statement that writes, in the transaction under way or in one of its own, which `writers` should bound.
   * @throws ServiceUnavailable
   */
  write(statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    return this.run(statement, parameters, async (pool) => {
      const client = await pool.connect();
      try {
        return await query(client, statement, parameters);
      } finally {
        client.release();
      }
    });
  }

  private run(
    statement: Statement,
    parameters: Parameter[],
    outsideTransaction: (pool: Pool) => Promise<Row[]>,
  ): Promise<Row[]> {
    return orUnavailable(async () => {
      const runner = this.transactions.getStore()?.queryRunner as PostgresQueryRunner | undefined;
      if (runner !== undefined) {
        return query((await runner.connect()) as PoolClient, statement, parameters);
      }
      if (this.pool === undefined) {
        throw notConnectedYet();
      }
      return outsideTransaction(this.pool);
    });
  }

  private pipeline(pool: Pool, table: string): ReadPipeline {
    let pipeline = this.pipelines.get(table);
    if (pipeline === undefined) {
      pipeline = new ReadPipeline(pool);
      this.pipelines.set(table, pipeline);
    }
    return pipeline;
  }

  /**
   * Checks that the database responds, and that it is a primary: a standby takes no writes.
   * @throws ServiceUnavailable
   */
  async checkReadiness(): Promise<void> {
    const [row] = await this.read(IN_RECOVERY, []);
    if (row?.[0] !== false) {
      throw new ServiceUnavailable(new Error('The database is a standby'));
    }
  }

  /** How many connections of the pool are in use and how many are not, and how much waits for one. */
  get poolState(): { readonly busy: number; readonly idle: number; readonly waiting: number } {
    const { totalCount = 0, idleCount = 0, waitingCount = 0 } = this.pool ?? {};
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Opens all connections of the pool, so that the first burst of requests need not wait for them. */
  private async openConnections(): Promise<void> {
    const { poolSize = 1 } = this.dataSource.options as { poolSize?: number };
    await Promise.allSettled(Array.from({ length: poolSize }, () => this.dataSource.query('SELECT 1')));
  }

  private async open(): Promise<void> {
    const { options } = this.dataSource;
    if (this.settings.migrateOnStart) {
      const migrations = await migrate(options);
      if (migrations.length > 0) {
        this.logger.log({ event: 'migrated', migrations }, 'The database schema is up to date now.');
      }
    } else {
      await checkSchema(options);
    }
    await this.dataSource.initialize();
    await this.openConnections();
    this.pool = (this.dataSource.driver as PostgresDriver).master as Pool;
  }

  /** Tries again until the database is open, the replica stops, or it fails in a way that cannot heal. */
  private async openLater(firstError: unknown): Promise<void> {
    const { signal } = this.stopping;
    let error = firstError;
    let logged = { reason: '', at: 0 };
    while (mayHeal(error)) {
      const [reason, now] = [reasonOf(error), performance.now()];
      if (reason !== logged.reason || now - logged.at >= REMINDER_MS) {
        logged = { reason, at: now };
        this.logger.warn(
          { event: 'database_unavailable', reason },
          `The database cannot be used yet (${reason}); trying again every second.`,
        );
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        return;
      }
      try {
        await this.open();
        this.logger.log({ event: 'database_opened' }, 'The database can be used.');
        return;
      } catch (nextError) {
        error = nextError;
      }
    }
    this.giveUp(asSetupError(error));
  }
}

function asSetupError(error: unknown): DatabaseSetupError {
  return error instanceof DatabaseSetupError ? error : new DatabaseSetupError(reasonOf(error), { cause: error });
}

function notConnectedYet(): ServiceUnavailable {
  return new ServiceUnavailable(new Error('The database has not been reached since the start'));
}
