import type { EntitySchemaColumnOptions, ValueTransformer } from 'typeorm';
import { DateUtils } from 'typeorm/util/DateUtils';

/** The types whose values JSON can carry, and which `pg` reads as TypeORM does. */
const TYPES = new Set([
  ...['text', 'varchar', 'character varying', 'citext', 'uuid', 'inet', 'cidr', 'macaddr', 'boolean', 'bool'],
  ...['smallint', 'int2', 'integer', 'int', 'int4', 'bigint', 'int8', 'numeric', 'decimal'],
  ...['real', 'float4', 'float', 'float8', 'double precision', 'timestamptz', 'timestamp with time zone', 'date'],
  ...['int4range', 'int8range', 'numrange', 'tstzrange', 'daterange', 'json', 'jsonb'],
]);
const TYPES_OF_CONSTRUCTORS = new Map<unknown, string>([
  [String, 'varchar'],
  [Number, 'integer'],
  [Boolean, 'boolean'],
]);

/** Options that change which rows or values TypeORM reads or writes. */
const UNSUPPORTED_OPTIONS = ['deleteDate', 'version', 'virtualProperty'] as const;

/** What TypeORM does with a value after the transformers. */
const CONVERSIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  date: (value) => DateUtils.mixedDateToDateString(value as string | Date),
  // Throws for a bigint, which would come back as a string.
  json: copyJson,
  jsonb: copyJson,
};

export interface Column {
  readonly property: string;
  readonly name: string;
  readonly type: string;
  readonly isInserted: boolean;
  readonly fromDatabase: (value: unknown) => unknown;
  readonly toDatabase: (value: unknown) => unknown;
}

/** @throws Error when the column has a feature that the statements of a table do not have */
export function createColumn(schema: string, property: string, options: EntitySchemaColumnOptions): Column {
  const { name = property, generated, transformer, array = false, select = true, insert = true } = options;
  const elementType = TYPES_OF_CONSTRUCTORS.get(options.type) ?? String(options.type);
  const type = array ? `${elementType}[]` : elementType;
  const unsupported =
    !TYPES.has(elementType) || (array && elementType in CONVERSIONS)
      ? `type: '${type}'`
      : (!select && 'select: false') || UNSUPPORTED_OPTIONS.find((option) => options[option]);
  if (unsupported) {
    throw createUnsupportedError(unsupported, `${schema}.${property}`);
  }
  const transformers: ValueTransformer[] = [transformer ?? []].flat();
  const convert = CONVERSIONS[type] ?? ((value) => value);
  return {
    property,
    name,
    type,
    isInserted: insert && generated === undefined && options.asExpression === undefined,
    fromDatabase: (value) => transformers.reduceRight<unknown>((result, it) => it.from(result), value),
    toDatabase: (value) => convert(transformers.reduce<unknown>((result, it) => it.to(result), value)),
  };
}

export function createUnsupportedError(feature: string, place: string): Error {
  return new Error(`Tables do not support ${feature} of ${place}: use TypeORM for this table.`);
}

/** The column in the statement's parameter. */
export function declare({ property, type }: Column): string {
  return `${quote(property)} ${type}`;
}

/**
 * The column in the result, with the type of the schema, also while a migration of a newer version has changed the type in the table. `pg`
 * would read a date as a time.
 */
export function selected(column: Column): string {
  return `${own(column)}::${column.type === 'date' ? 'text' : column.type} AS ${quote(column.name)}`;
}

export function own({ name }: Column): string {
  return `entity.${quote(name)}`;
}

export function requested({ property }: Column): string {
  return `request.${quote(property)}`;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function copyJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
