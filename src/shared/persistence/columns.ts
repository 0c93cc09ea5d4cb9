import type { EntitySchemaColumnOptions, InsertResult, ValueTransformer } from 'typeorm';

/** `pg` returns int8 as text; the domain uses bigint. */
const bigintTransformer: ValueTransformer = {
  from: (value: string | null) => (value === null ? null : BigInt(value)),
  to: (value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
};

export const bigintColumn: EntitySchemaColumnOptions = { type: 'bigint', transformer: bigintTransformer };

/** A number also after a newer version has made the column a bigint, which `pg` returns as text. */
export const integerColumn: EntitySchemaColumnOptions = {
  type: 'integer',
  transformer: {
    from: (value: number | string | null) => (value === null ? null : Number(value)),
    to: (value: unknown) => value,
  },
};

/** One column for each property of the class: TypeORM's own type allows that some are missing. */
export type Columns<Entity> = Readonly<Record<keyof Entity, EntitySchemaColumnOptions>>;

/** A primary key that the database assigns. */
export const identityColumn: EntitySchemaColumnOptions = {
  ...bigintColumn,
  primary: true,
  generated: 'increment',
};

/** Returns the generated key of an inserted row, which TypeORM leaves as text. */
export function getInsertedId({ identifiers }: InsertResult): bigint {
  return BigInt((identifiers[0] as { readonly id: string }).id);
}
