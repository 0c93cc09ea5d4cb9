import type { EntitySchemaColumnOptions, InsertResult, ValueTransformer } from 'typeorm';

/** `pg` hands int8 over as text; the domain works with bigint. */
const bigintTransformer: ValueTransformer = {
  from: (value: string | null) => (value === null ? null : BigInt(value)),
  to: (value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
};

export const bigintColumn: EntitySchemaColumnOptions = { type: 'bigint', transformer: bigintTransformer };

/** A key that the database assigns. */
export const identityColumn: EntitySchemaColumnOptions = {
  ...bigintColumn,
  primary: true,
  generated: 'increment',
};

/** The key that the database gave an inserted row; TypeORM leaves it as text. */
export function insertedId({ identifiers }: InsertResult): bigint {
  return BigInt((identifiers[0] as { readonly id: string }).id);
}
