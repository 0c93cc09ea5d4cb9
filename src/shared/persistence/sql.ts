import type { EntitySchema, EntitySchemaColumnOptions } from 'typeorm';

export interface SqlNames<Entity> {
  readonly table: string;
  readonly columns: Readonly<Record<keyof Entity, string>>;
}

/** Returns the table and column names of a schema, for hand-written SQL. */
export function getSqlNames<Entity>({ options }: EntitySchema<Entity>): SqlNames<Entity> {
  const columns = Object.entries(options.columns as Record<string, EntitySchemaColumnOptions>);
  return {
    table: options.tableName ?? options.name,
    columns: Object.fromEntries(columns.map(([property, { name }]) => [property, name ?? property])) as Record<
      keyof Entity,
      string
    >,
  };
}

/** Returns the SQL condition that a column holds one of the values. */
export function createInCondition(column: string, values: readonly string[]): string {
  return `${column} IN (${values.map((value) => `'${value}'`).join(', ')})`;
}

/** Writes records as the parameter of `json_to_recordset`, which reads a bigint from a string of its digits. */
export function formatRecords(records: readonly object[]): string {
  return JSON.stringify(records, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
