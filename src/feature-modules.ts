import { AUTH } from './auth';
import { IDEMPOTENCY } from './idempotency';
import { ORDERS } from './orders';
import { PETS } from './pets';
import { RATE_LIMIT_USAGE } from './rate-limiting';
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
