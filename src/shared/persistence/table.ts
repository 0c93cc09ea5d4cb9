import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource, type EntitySchema } from 'typeorm';
import { type Page, SharedItems } from '../domain/page';
import { MAX_PAGE_LIMIT } from '../domain/page-limit';
import { UnknownValueError } from '../domain/pet-store-error';
import { Batcher } from '../domain/batcher';
import { ReadEndpoint } from './read-endpoint';
import type { Semaphore } from '../domain/semaphore';
import { type Row, type Statement, Statements } from './statements';
import { formatBatch, TableStatements } from './table-statements';
import { TypeOrmUnitOfWork } from './typeorm-unit-of-work';
import { isDataOrConstraintError } from './unavailable-error';

/** Another batch runs while this process handles the rows of the first. */
const MAX_CONCURRENT_BATCHES = 2;
/** What TypeORM's subscribers hear of rows that TypeORM loads and inserts. */
const UNSUPPORTED_EVENTS = ['afterLoad', 'beforeInsert', 'afterInsert'] as const;

/** Rows with a bigint identity column. */
interface Identified {
  readonly id: bigint;
}

/** Only rows with these values; no value equals null. */
type Filters<Entity> = { readonly [Property in keyof Entity]?: NonNullable<Entity[Property]> | undefined };

export interface PageQuery<Entity> {
  readonly filters?: Filters<Entity>;
  /** Only rows with a larger ID. */
  readonly after: bigint;
  /** The maximum number of rows; never more than `MAX_PAGE_LIMIT`. */
  readonly limit: number;
}

export interface TableOptions<Entity> {
  /** Whether this version of the service knows all values of a row: others are not listed, and cannot be found. */
  readonly isKnown?: (entity: Entity) => boolean;
  /** Whether pages may come from a standby, so that a client may not see what it has just written. */
  readonly listsFromStandby?: boolean;
}

/** A page as an item of a batch, with the values of the filters. */
interface PageItem {
  readonly page_after: bigint;
  /** The maximum number of rows, and one more. */
  readonly page_size: number;
}

/** Gives repositories fast access to the tables of their schemas. */
@Injectable()
export class Tables implements OnApplicationBootstrap {
  private readonly entities: { readonly name: string }[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly endpoint: ReadEndpoint,
    private readonly unitOfWork: TypeOrmUnitOfWork,
  ) {}

  /** @throws Error when a subscriber of TypeORM expects events of a table */
  onApplicationBootstrap(): void {
    for (const subscriber of this.dataSource.subscribers) {
      const listened: unknown = subscriber.listenTo?.();
      const entity = this.entities.find((each) => listened === undefined || listened === Object || listened === each);
      const event = UNSUPPORTED_EVENTS.find((name) => subscriber[name] !== undefined);
      if (entity !== undefined && event !== undefined) {
        throw new Error(
          `${subscriber.constructor.name} would miss ${event} of ${entity.name}, whose rows a Table reads and inserts. ` +
            'Give it a listenTo() with another entity, or use TypeORM for this table.',
        );
      }
    }
  }

  /** @throws Error when the schema is not listed in the index of a module */
  get<Entity extends Identified>(
    schema: EntitySchema<Entity>,
    { isKnown = () => true, listsFromStandby = false }: TableOptions<Entity> = {},
  ): Table<Entity> {
    const target = schema.options.target as new () => Entity;
    this.unitOfWork.requireSchema(target);
    this.entities.push(target);
    const source = listsFromStandby ? this.endpoint : this.statements;
    return new Table(new TableStatements(schema), isKnown, this.statements, source, this.unitOfWork);
  }
}

/**
 * The rows of a table, for the operations that every request may need. What arrives together shares one prepared statement, which takes a
 * fraction of the CPU time of TypeORM's queries. In a transaction, each call has its own statement. The rest is TypeORM's.
 */
export class Table<Entity extends Identified> {
  private readonly finds = new Map<Statement, Batcher<object, Row | undefined>>();
  private readonly inserts = new Map<Statement, Batcher<object, bigint>>();
  private readonly pages = new Map<Statement, Batcher<PageItem, Page<Entity>>>();

  constructor(
    private readonly table: TableStatements<Entity>,
    private readonly isKnown: (entity: Entity) => boolean,
    private readonly statements: Statements,
    private readonly pageSource: ReadEndpoint | Statements,
    private readonly unitOfWork: TypeOrmUnitOfWork,
  ) {}

  /** @throws UnknownValueError, ServiceUnavailableError */
  async find(id: bigint, filters: Filters<Entity> = {}): Promise<Entity | null> {
    const values = this.table.convertFilters(filters);
    const statement = this.table.getFind(Object.keys(values));
    const batcher = getBatcher(this.finds, statement, (items) => this.selectRows(statement, items));
    const row = await this.run(batcher, { ...values, id });
    const entity = row === undefined ? null : this.table.createEntity(row);
    if (entity !== null && !this.isKnown(entity)) {
      throw new UnknownValueError();
    }
    return entity;
  }

  /**
   * Returns a page by ascending ID. A property that is no part of the query, such as a forgotten filter, does not compile.
   * @throws ServiceUnavailableError
   */
  page<Query extends PageQuery<Entity>>(
    query: Query & Readonly<Record<Exclude<keyof Query, keyof PageQuery<Entity>>, never>>,
  ): Promise<Page<Entity>> {
    const { filters = {}, after, limit }: PageQuery<Entity> = query;
    const values = this.table.convertFilters(filters);
    const statement = this.table.getPage(Object.keys(values));
    const batcher = getBatcher(this.pages, statement, (items) => this.selectPages(statement, items));
    return this.run(batcher, { ...values, page_after: after, page_size: Math.min(limit, MAX_PAGE_LIMIT) + 1 });
  }

  /**
   * Inserts a row. Properties that are undefined have the default of their column.
   * @returns the ID that the database assigned
   * @throws ServiceUnavailableError
   */
  async insert(item: Omit<Entity, 'id'>): Promise<bigint> {
    const values = this.table.convertItem(item);
    const statement = this.table.getInsert(Object.keys(values));
    const insert = (items: readonly object[]) => this.insertAll(statement, items);
    return this.run(getBatcher(this.inserts, statement, insert, this.unitOfWork.writeSemaphore), values);
  }

  private run<Item, Result>(batcher: Batcher<Item, Result>, item: Item): Promise<Result> {
    return this.unitOfWork.transaction === undefined ? batcher.add(item) : batcher.runAlone(item);
  }

  private async selectRows(statement: Statement, items: readonly object[]): Promise<(Row | undefined)[]> {
    const rows = await this.statements.read(statement, [formatBatch(items)]);
    return this.table.group(rows, items.length).map(([row]) => row);
  }

  private async selectPages(statement: Statement, items: readonly PageItem[]): Promise<Page<Entity>[]> {
    // Equal pages are read once.
    const keys = items.map((item) => formatBatch([item]));
    const distinct = [...new Map(items.map((item, index) => [keys[index], item]))];
    const rows = await this.pageSource.read(statement, [formatBatch(distinct.map(([, item]) => item))]);
    const groups = this.table.group(rows, distinct.length);
    const pages = new Map(
      distinct.map(([key, item], number) => [key, this.createSharedPage(item, groups[number] ?? [])]),
    );
    return keys.flatMap((key) => pages.get(key)?.() ?? []);
  }

  /** Returns a function that returns the page for one reader. */
  private createSharedPage({ page_size: size }: PageItem, rows: Row[]): () => Page<Entity> {
    const hasNext = rows.length === size;
    const own = hasNext ? rows.slice(0, -1) : rows;
    const items = new SharedItems(() => own.map((row) => this.table.createEntity(row)).filter(this.isKnown));
    const last = hasNext ? own.at(-1) : undefined;
    const next = last && this.table.getId(last);
    return () => ({ items: items.toArray(), next });
  }

  private async insertAll(statement: Statement, items: readonly object[]): Promise<bigint[]> {
    const rows = await this.statements.write(statement, [formatBatch(items)]);
    if (rows.length !== items.length) {
      throw new Error(`A trigger has skipped rows of ${statement.name}, so that it is unknown which ones were stored.`);
    }
    // IDs are assigned in the order of the items, but the order of the returned rows is not guaranteed.
    return rows.map(([id]) => BigInt(id as string)).sort((a, b) => (a < b ? -1 : 1));
  }
}

function getBatcher<Item, Result>(
  batchers: Map<Statement, Batcher<Item, Result>>,
  statement: Statement,
  processBatch: (items: readonly Item[]) => Promise<readonly Result[]>,
  semaphore?: Semaphore,
): Batcher<Item, Result> {
  let batcher = batchers.get(statement);
  if (batcher === undefined) {
    batcher = new Batcher(processBatch, {
      isSplittable: isDataOrConstraintError,
      maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
      semaphore,
    });
    batchers.set(statement, batcher);
  }
  return batcher;
}
