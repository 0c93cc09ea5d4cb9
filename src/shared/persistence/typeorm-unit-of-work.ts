import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager, EntitySchema } from 'typeorm';
import { UnitOfWork } from '../domain/unit-of-work';
import { Settings } from '../../config/settings';
import { DATABASE_SETTINGS } from './database-settings';
import { Semaphore } from '../domain/semaphore';
import { createTimeouts, createTransactionSql } from './session';
import { createNotConnectedError, convertUnavailableError } from './unavailable-error';

/** Together with the default statement timeout of 1 s, this allows a 503 within 2 s. */
const WRITE_WAIT_TIMEOUT_MS = 850;

interface Transaction {
  readonly manager: EntityManager;
  /** Whether its work has not settled yet. What the work has started without waiting for it does not belong to the transaction later. */
  isOpen: boolean;
  readonly afterCommit: (() => unknown)[];
}

/** Runs TypeORM transactions, and provides the entity manager that repositories use. */
@Injectable()
export class TypeOrmUnitOfWork extends UnitOfWork {
  /** Limits the number of connections that write concurrently. */
  readonly writeSemaphore: Semaphore;
  private readonly logger = new Logger(UnitOfWork.name);
  private readonly transactions = new AsyncLocalStorage<Transaction>();
  /** Statements at the start of each transaction; undefined if its session has the parameters. */
  readonly startSql: string | undefined;

  constructor(
    private readonly dataSource: DataSource,
    settings: Settings,
  ) {
    super();
    const { poolMax, poolerMode, statementTimeoutMs } = settings.get(DATABASE_SETTINGS);
    // The rest of the pool can still read while all writers wait for a lock.
    this.writeSemaphore = new Semaphore(Math.floor(poolMax / 2) - 1, WRITE_WAIT_TIMEOUT_MS);
    this.startSql = poolerMode === 'transaction' ? createTransactionSql(createTimeouts(statementTimeoutMs)) : undefined;
  }

  async run<T>(work: () => Promise<T>, accountId?: bigint): Promise<T> {
    if (this.current !== undefined) {
      return work();
    }
    const afterCommit: (() => unknown)[] = [];
    const result = await this.runAlone(async (manager) => {
      const transaction = { manager, isOpen: true, afterCommit };
      try {
        return await this.transactions.run(transaction, work);
      } finally {
        transaction.isOpen = false;
      }
    }, accountId);
    afterCommit.forEach((each) => void this.runLogged(each));
    return result;
  }

  afterCommit(work: () => unknown): void {
    if (this.current === undefined) {
      void this.runLogged(work);
    } else {
      this.current.afterCommit.push(work);
    }
  }

  /**
   * Runs a transaction that repositories do not join, for background work. Unlike `run`, it leaves AsyncLocalStorage alone, which makes all
   * promises of a process slower on Node.js 20 and 22 once it is used.
   * @throws ServiceUnavailableError
   */
  runAlone<T>(work: (manager: EntityManager) => Promise<T>, accountId?: bigint): Promise<T> {
    return convertUnavailableError(() => this.writeSemaphore.run(() => this.runTransaction(work), accountId));
  }

  /** Runs a transaction that repositories do not join, without limiting the concurrency. */
  runTransaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      if (this.startSql !== undefined) {
        await manager.query(this.startSql);
      }
      return work(manager);
    });
  }

  /**
   * Checks at startup that a repository's class has a schema; TypeORM would only fail at the first request.
   * @throws Error when the class has no schema
   */
  requireSchema(entity: new (...args: never[]) => object): void {
    const schemas = Object.values(this.dataSource.options.entities ?? {}) as unknown[];
    if (!schemas.some((schema) => schema instanceof EntitySchema && schema.options.target === entity)) {
      throw new Error(`No schema of ${entity.name} is listed in the index.ts of a module.`);
    }
  }

  /** The current transaction, if any. */
  get transaction(): EntityManager | undefined {
    return this.current?.manager;
  }

  /**
   * The entity manager of the current transaction or, outside a transaction, of any connection.
   * @throws ServiceUnavailableError
   */
  get manager(): EntityManager {
    if (this.dataSource.entityMetadatas.length === 0) {
      // TypeORM loads its schemas with the first connection and has none before.
      throw createNotConnectedError();
    }
    return this.transaction ?? this.dataSource.manager;
  }

  private get current(): Transaction | undefined {
    const transaction = this.transactions.getStore();
    return transaction?.isOpen === true ? transaction : undefined;
  }

  private async runLogged(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.error(error);
    }
  }
}
