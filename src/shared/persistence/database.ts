import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import type { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';
import { Settings } from '../../config/settings';
import { ServiceUnavailable } from '../domain/pet-store-error';
import { reasonOf } from '../domain/reason';
import { EmbeddedDatabase } from './embedded-database';
import { migrate } from './migrate';
import { type Parameter, Pipeline, query, type Row, type Statement } from './statements';
import { isDatabaseUnavailable, orUnavailable } from './unavailable';

const RETRY_MS = 1_000;

interface Connections {
  readonly pool: Pool;
  readonly pipeline: Pipeline;
}

/** The database cannot be used as it is set up; the message says why. */
export class DatabaseSetupError extends Error {}

/**
 * Opens the database when the application starts (the embedded one where no `DATABASE_URL` is set), migrates it, and
 * closes it after the last request. Away from development, a database that cannot be reached yet is tried again
 * every second: the replica lives, and is not ready.
 */
@Injectable()
export class Database implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Database.name);
  protected embedded: EmbeddedDatabase | undefined;
  private retry: NodeJS.Timeout | undefined;
  private connections: Connections | undefined;
  private opening: Promise<void> | undefined;
  private readonly transactions = new AsyncLocalStorage<EntityManager>();

  constructor(
    protected readonly settings: Settings,
    protected readonly dataSource: DataSource,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.settings.databaseUrl === undefined) {
      this.embedded = await EmbeddedDatabase.open(this.settings.dataDir);
    }
    await this.open();
  }

  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.retry);
    await this.opening?.catch(() => undefined);
    await this.connections?.pipeline.close();
    if (this.dataSource.isInitialized) {
      await this.dataSource.destroy();
    }
    await this.embedded?.close();
  }

  /** Where a repository sends its queries: the transaction under way, if there is one. */
  get manager(): EntityManager {
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
      this.dataSource.transaction((manager) => this.transactions.run(manager, () => work(manager))),
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
  read(statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    return this.run(statement, parameters, ({ pipeline }) => pipeline.query(statement, parameters));
  }

  /**
   * Runs a statement that writes, in the transaction under way or in one of its own.
   * @throws ServiceUnavailable
   */
  write(statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    return this.run(statement, parameters, async ({ pool }) => {
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
    outsideTransaction: (connections: Connections) => Promise<Row[]>,
  ): Promise<Row[]> {
    return orUnavailable(async () => {
      const runner = this.transactions.getStore()?.queryRunner as PostgresQueryRunner | undefined;
      if (runner !== undefined) {
        return query((await runner.connect()) as PoolClient, statement, parameters);
      }
      if (this.connections === undefined) {
        throw new ServiceUnavailable();
      }
      return outsideTransaction(this.connections);
    });
  }

  /** Whether the database answers. */
  async isReady(): Promise<boolean> {
    try {
      await this.dataSource.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }

  /** How many connections of the pool are in use and how many are not, and how much waits for one. */
  get poolState(): { readonly busy: number; readonly idle: number; readonly waiting: number } {
    const { totalCount = 0, idleCount = 0, waitingCount = 0 } = this.connections?.pool ?? {};
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Opens all connections of the pool, so that the first burst of requests need not wait for them. */
  private async openConnections(): Promise<void> {
    const { poolSize = 1 } = this.dataSource.options as { poolSize?: number };
    await Promise.all(Array.from({ length: poolSize }, () => this.isReady()));
  }

  private async open(): Promise<void> {
    try {
      const migrations = await migrate(this.dataSource.options);
      if (migrations.length > 0) {
        this.logger.log({ event: 'migrated', migrations }, 'The database schema is up to date now.');
      }
      await this.dataSource.initialize();
    } catch (error) {
      const reason = reasonOf(error);
      if (this.settings.environment === 'development' || !isDatabaseUnavailable(error)) {
        throw new DatabaseSetupError(`The database cannot be used: ${reason}.`, { cause: error });
      }
      this.logger.warn(
        { event: 'database_unreachable', reason },
        `The database cannot be reached (${reason}); trying again every second.`,
      );
      this.retry = setTimeout(() => {
        this.opening = this.open().catch((failure: unknown) => {
          this.logger.error(failure);
        });
      }, RETRY_MS);
      return;
    }
    await this.openConnections();
    const pool = (this.dataSource.driver as PostgresDriver).master as Pool;
    this.connections = { pool, pipeline: new Pipeline(pool) };
  }
}
