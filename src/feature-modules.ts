import { AUTH } from './auth';
import { IDEMPOTENCY } from './idempotency';
import { ORDERS } from './orders';
import { PETS } from './pets';
import { RATE_LIMIT_USAGE } from './rate-limiting';
import { GENERAL_SCOPES } from './shared/domain/scope';
import type { FeatureModule } from './shared/feature-module';

/** The modules with operations, schemas, migrations or errors, in the order of the OpenAPI document. */
export const FEATURE_MODULES = [
  // One per line.
  AUTH,
  IDEMPOTENCY,
  PETS,
  ORDERS,
  RATE_LIMIT_USAGE,
] as const satisfies readonly FeatureModule[];

/** Everything that a key can be granted. */
export const SCOPES: readonly string[] = [
  ...GENERAL_SCOPES,
  ...FEATURE_MODULES.flatMap(({ scopes = [] }: FeatureModule) => scopes),
];
