import { hash } from 'node:crypto';
import { DefaultNamingStrategy, type EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';
import { MAX_PAGE_LIMIT } from '../domain/page-limit';
import type { Row, Statement } from './statements';
import {
  type Column,
  createColumn,
  createUnsupportedError,
  declare,
  own,
  quote,
  requested,
  selected,
} from './table-column';

/** The part of a row that a statement returns in front of the columns of the table: to which item of a batch the row belongs. */
const NUMBER = 'batch_number';
/** What the name of a statement has of the name of its table, and of the digest of its text. */
const MAX_TABLE_NAME_LENGTH = 25;
const STATEMENT_DIGEST_LENGTH = 12;

/** Returns the SQL condition that a column holds one of the values. */
export function createInCondition(column: string, values: readonly string[]): string {
  return `${column} IN (${values.map((value) => `'${value}'`).join(', ')})`;
}

/** Writes the items of a batch as the parameter of `json_to_recordset`, which reads a bigint from a string of its digits. */
export function formatBatch(items: readonly object[]): string {
  const numbered = items.map((item, number) => ({ ...item, [NUMBER]: number }));
  return JSON.stringify(numbered, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/**
 * The statements that find, list and insert the rows of a schema in batches: one statement for all items that arrive together. The estimate
 * of the planner for a JSON parameter does not depend on its value, so that each connection plans a statement once.
 */
export class TableStatements<Entity> {
  private readonly name: string;
  private readonly table: string;
  private readonly columns: readonly Column[];
  private readonly insertedColumns: readonly Column[];
  private readonly id: Column;
  /** Where a row has its ID. */
  private readonly idIndex: number;
  private readonly statements = new Map<string, Statement>();

  /** @throws Error when the schema has a feature that only TypeORM has */
  constructor(private readonly schema: EntitySchema<Entity>) {
    const { target, tableName, schema: tableSchema = [], name, columns, relations = {}, orderBy } = schema.options;
    const eager = Object.entries<{ readonly eager?: boolean } | undefined>(relations).find(([, it]) => it?.eager);
    const unsupported = orderBy === undefined ? eager && `the eager relation ${eager[0]}` : 'orderBy';
    if (unsupported !== undefined) {
      throw createUnsupportedError(unsupported, name);
    }
    this.name = new DefaultNamingStrategy().tableName(target?.name ?? name, tableName);
    this.table = [tableSchema, this.name].flat().map(quote).join('.');
    this.columns = Object.entries<EntitySchemaColumnOptions | undefined>(columns).flatMap(([property, options]) =>
      options === undefined ? [] : [createColumn(name, property, options)],
    );
    this.insertedColumns = this.columns.filter(({ isInserted }) => isInserted);
    this.id = this.getColumn('id');
    this.idIndex = this.columns.indexOf(this.id) + 1;
  }

  /** The statement that inserts rows with some values. The other columns have their defaults. */
  getInsert(properties: readonly string[]): Statement {
    return this.getStatement('insert', properties, (columns) => ({
      text: `
        INSERT INTO ${this.table} (${columns.map((column) => quote(column.name)).join(', ')})
        SELECT ${columns.map(({ property }) => `item.${quote(property)}`).join(', ')}
        FROM json_to_recordset($1) AS item (${[`${NUMBER} int`, ...columns.map(declare)].join(', ')})
        ORDER BY item.${NUMBER} RETURNING ${quote(this.id.name)}`,
      columns: [this.id.name],
    }));
  }

  /** The statement for the row with an ID, if it also has some values. */
  getFind(filters: readonly string[]): Statement {
    return this.getSelect('find', 'id bigint', filters, (columns) => {
      const conditions = columns.map((column) => `${own(column)} = ${requested(column)}`);
      return this.createRecords([`${own(this.id)} = request.id`, ...conditions].join(' AND '), own(this.id), 1);
    });
  }

  /**
   * The statement for pages by ascending ID of the rows with some values. With one row more than the page holds, it shows whether there is
   * a next page. The constant limit shows the planner how short a page is.
   */
  getPage(filters: readonly string[]): Statement {
    return this.getSelect('page', 'page_after bigint, page_size int', filters, (columns) => {
      const { condition, order } = this.createPageCondition(columns);
      const records = this.createRecords(condition, order, MAX_PAGE_LIMIT + 1);
      return `SELECT * FROM (${records}) AS longest LIMIT request.page_size`;
    });
  }

  /** Groups rows by the items of their batch; an item has no rows, or some in the order of the statement. */
  group(rows: readonly Row[], items: number): Row[][] {
    const groups = Array.from({ length: items }, (): Row[] => []);
    for (const row of rows) {
      if (row[this.idIndex] !== null) {
        groups[row[0] as number]?.push(row);
      }
    }
    return groups;
  }

  /** Converts a new row as TypeORM does, without the columns that have their defaults. */
  convertItem(item: object): object {
    const values = item as Readonly<Record<string, unknown>>;
    return createObject(
      this.insertedColumns.map(({ property, toDatabase }) => [property, toDatabase(values[property])]),
    );
  }

  /** Converts the values of filters as TypeORM does. */
  convertFilters(filters: object): object {
    const values = Object.entries(createObject(Object.entries(filters)));
    return createObject(values.map(([property, value]) => [property, this.getColumn(property).toDatabase(value)]));
  }

  getId(row: Row): bigint {
    return BigInt(row[this.idIndex] as string);
  }

  /** Creates an entity as TypeORM does. */
  createEntity(row: Row): Entity {
    const entity = new (this.schema.options.target as new () => Entity)() as Record<string, unknown>;
    this.columns.forEach(({ property, fromDatabase }, index) => {
      entity[property] = fromDatabase(row[index + 1]);
    });
    return entity as Entity;
  }

  private getSelect(
    name: string,
    request: string,
    filters: readonly string[],
    createRecords: (columns: readonly Column[]) => string,
  ): Statement {
    return this.getStatement(name, filters, (columns) => ({
      // Items without rows have one row of nulls: a read endpoint adds its position to each row.
      text: `
        SELECT request.${NUMBER}, record.*
        FROM json_to_recordset($1) AS request (${[`${NUMBER} int`, request, ...columns.map(declare)].join(', ')})
        LEFT JOIN LATERAL (${createRecords(columns)}) AS record ON true`,
      columns: [NUMBER, ...this.columns.map((column) => column.name)],
    }));
  }

  private getStatement(
    name: string,
    properties: readonly string[],
    create: (columns: readonly Column[]) => Omit<Statement, 'name'>,
  ): Statement {
    const key = [name, ...properties].join();
    let statement = this.statements.get(key);
    if (statement === undefined) {
      const created = create(properties.map((property) => this.getColumn(property)));
      // All tables share the connections, on which a name stands for one text. It may have at most 63 characters.
      const digest = hash('sha1', created.text).slice(0, STATEMENT_DIGEST_LENGTH);
      statement = { name: `${this.name.slice(0, MAX_TABLE_NAME_LENGTH)}_${name}_${digest}`, ...created };
      this.statements.set(key, statement);
    }
    return statement;
  }

  private createRecords(condition: string, order: string, limit: number): string {
    const columns = this.columns.map(selected).join(', ');
    return `SELECT ${columns} FROM ${this.table} AS entity WHERE ${condition} ORDER BY ${order} LIMIT ${limit}`;
  }

  /**
   * The last filter of the index is written so that only this index can serve it: with `status = 'available'`, PostgreSQL may scan the IDs
   * instead, past a million sold animals before the first available one.
   */
  private createPageCondition(filters: readonly Column[]): { readonly condition: string; readonly order: string } {
    const last = this.findIndexedFilter(filters);
    const equal = filters.filter((column) => column !== last).map((column) => `${own(column)} = ${requested(column)}`);
    const [conditions, order] =
      last === undefined
        ? [[`${own(this.id)} > request.page_after`], own(this.id)]
        : [
            [
              `(${own(last)}, ${own(this.id)}) > (${requested(last)}, request.page_after)`,
              `${own(last)} <= ${requested(last)}`,
            ],
            `${own(last)}, ${own(this.id)}`,
          ];
    return { condition: [...equal, ...conditions].join(' AND '), order };
  }

  /** The last column before the ID of the longest index on some of the filters and the ID. */
  private findIndexedFilter(filters: readonly Column[]): Column | undefined {
    const properties = filters.map(({ property }) => property);
    const indices = (this.schema.options.indices ?? []).map(({ columns }) => (Array.isArray(columns) ? columns : []));
    const [best = []] = indices
      .filter((columns) => columns.at(-1) === 'id' && columns.slice(0, -1).every((it) => properties.includes(it)))
      .sort((a, b) => b.length - a.length);
    return filters.find(({ property }) => property === best.at(-2));
  }

  private getColumn(property: string): Column {
    const column = this.columns.find((it) => it.property === property);
    if (column === undefined) {
      throw new Error(`${this.schema.options.name} has no column ${property}.`);
    }
    return column;
  }
}

/** Without undefined values. */
function createObject(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
