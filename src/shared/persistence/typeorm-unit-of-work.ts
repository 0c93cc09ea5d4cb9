import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource, type EntityManager, EntitySchema } from 'typeorm';
import type { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';
import { UnitOfWork } from '../domain/unit-of-work';
import { Settings } from '../../config/settings';
import { DATABASE_SETTINGS } from './database-settings';
import { Semaphore } from '../domain/semaphore';
import { createTimeouts, createTransactionStart } from './session';
import { createNotConnectedError, convertUnavailableError } from './unavailable-error';

/** Together with the default statement timeout of 1 s, this allows a 503 within 2 s. */
const WRITE_WAIT_TIMEOUT_MS = 850;

interface Transaction {
  readonly manager: EntityManager;
  /**
   * `ended` when its work has been fulfilled: what the work has started without waiting for it does not belong to the transaction later.
   * `failed` when it has been rejected: what still runs, such as another branch of a `Promise.all`, must not be stored without the rest.
   */
  state: 'open' | 'ended' | 'failed';
  readonly afterCommit: (() => unknown)[];
}

/** Runs TypeORM transactions, and provides the entity manager that repositories use. */
@Injectable()
export class TypeOrmUnitOfWork extends UnitOfWork {
  /** Limits the number of connections that write concurrently. */
  readonly writeSemaphore: Semaphore;
  private readonly logger = new Logger(UnitOfWork.name);
  private readonly transactions = new AsyncLocalStorage<Transaction>();
  /** The work after commits that has not settled yet. */
  private readonly unsettled = new Set<Promise<void>>();
  /** Gives each transaction its parameters; undefined if its session has them. */
  readonly startTransaction: ReturnType<typeof createTransactionStart> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    settings: Settings,
  ) {
    super();
    const { poolMax, poolerMode, statementTimeoutMs } = settings.get(DATABASE_SETTINGS);
    // The rest of the pool can still read while all writers wait for a lock.
    this.writeSemaphore = new Semaphore(Math.floor(poolMax / 2) - 1, WRITE_WAIT_TIMEOUT_MS);
    this.startTransaction =
      poolerMode === 'transaction' ? createTransactionStart(createTimeouts(statementTimeoutMs)) : undefined;
  }

  async run<T>(work: () => Promise<T>, accountId?: bigint): Promise<T> {
    if (this.current !== undefined) {
      return work();
    }
    const afterCommit: (() => unknown)[] = [];
    const result = await this.runAlone(async (manager) => {
      const transaction: Transaction = { manager, state: 'open', afterCommit };
      try {
        const value = await whileConnected(manager, this.transactions.run(transaction, work));
        transaction.state = 'ended';
        return value;
      } catch (error) {
        transaction.state = 'failed';
        throw error;
      }
    }, accountId);
    afterCommit.forEach((each) => {
      this.start(each);
    });
    return result;
  }

  afterCommit(work: () => unknown): void {
    if (this.current === undefined) {
      this.start(work);
    } else {
      this.current.afterCommit.push(work);
    }
  }

  /** Waits for all work after commits. */
  async settle(): Promise<void> {
    while (this.unsettled.size > 0) {
      await Promise.all(this.unsettled);
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
      await this.startTransaction?.(manager);
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

  /** @throws Error when the unit of work has failed */
  private get current(): Transaction | undefined {
    const transaction = this.transactions.getStore();
    if (transaction?.state === 'failed') {
      throw new Error('The unit of work has failed, so that none of its changes can be stored.');
    }
    return transaction?.state === 'open' ? transaction : undefined;
  }

  private start(work: () => unknown): void {
    const settled = this.runLogged(work).finally(() => this.unsettled.delete(settled));
    this.unsettled.add(settled);
  }

  private async runLogged(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.error(error);
    }
  }
}

/**
 * Waits for the work of a transaction, but no longer than its connection lasts: PostgreSQL ends a session whose work does something else for
 * seconds, and others wait to write.
 */
async function whileConnected<T>(manager: EntityManager, work: Promise<T>): Promise<T> {
  const client = (await (manager.queryRunner as PostgresQueryRunner).connect()) as PoolClient;
  let onEnd: () => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    onEnd = () => {
      reject(new Error('Connection terminated during a transaction'));
    };
    client.once('end', onEnd);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    client.off('end', onEnd);
  }
}
