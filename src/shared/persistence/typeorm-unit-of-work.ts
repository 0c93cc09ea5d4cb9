import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, EntitySchema } from 'typeorm';
import { UnitOfWork } from '../domain/unit-of-work';
import { getPoolMax } from './postgres-client';
import { Semaphore } from './statements/semaphore';
import { notConnectedYet, orUnavailable } from './unavailable';

/** With the second that a statement may take by default, less than 2 s. */
const MAX_WAIT_FOR_WRITING_MS = 850;

/** Transactions of TypeORM, and the entity manager that repositories send their queries to. */
@Injectable()
export class TypeOrmUnitOfWork extends UnitOfWork {
  /** Bounds how many connections write at once. */
  readonly writers: Semaphore;
  private readonly transactions = new AsyncLocalStorage<EntityManager>();

  constructor(private readonly dataSource: DataSource) {
    super();
    // The other half of the pool reads while all that writes waits for a lock.
    this.writers = new Semaphore(Math.floor(getPoolMax(dataSource) / 2), MAX_WAIT_FOR_WRITING_MS);
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.transaction !== undefined) {
      return work();
    }
    return orUnavailable(() =>
      this.writers.run(() => this.dataSource.transaction((manager) => this.transactions.run(manager, work))),
    );
  }

  /**
   * Lets a repository say at the start which class it stores.
   * @throws Error when the class has no schema, which TypeORM would notice with the first request
   */
  requireSchema(entity: new (...args: never[]) => object): void {
    const schemas = Object.values(this.dataSource.options.entities ?? {}) as unknown[];
    if (!schemas.some((schema) => schema instanceof EntitySchema && schema.options.target === entity)) {
      throw new Error(`No schema of ${entity.name} is listed in src/typeorm.config.ts.`);
    }
  }

  /** The transaction under way, if there is one. */
  get transaction(): EntityManager | undefined {
    return this.transactions.getStore();
  }

  /**
   * Where a repository sends its queries: the transaction under way, or else any connection.
   * @throws ServiceUnavailableError
   */
  get manager(): EntityManager {
    if (this.dataSource.entityMetadatas.length === 0) {
      // TypeORM reads its schemas with the first connection, and would not know any before.
      throw notConnectedYet();
    }
    return this.transaction ?? this.dataSource.manager;
  }
}
