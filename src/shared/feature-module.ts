import type { Type } from '@nestjs/common';
import type { EntitySchema, MigrationInterface } from 'typeorm';
import type { ErrorEntries } from './http/errors/error-catalog';

/** What a module brings to the service. `src/feature-modules.ts` lists the modules. */
export interface FeatureModule {
  readonly module: Type;
  /** The schemas of the classes that it stores, or classes with `@Entity()`. */
  readonly schemas?: readonly (EntitySchema | Type)[];
  /** In any order: the number at the end of their names decides. */
  readonly migrations?: readonly Type<MigrationInterface>[];
  readonly errors?: ErrorEntries;
  /** The scopes that its operations require, such as `orders:read` and `orders:write`, beside `read` and `write`. */
  readonly scopes?: readonly string[];
}
