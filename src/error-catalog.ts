import { FEATURE_MODULES } from './feature-modules';
import type { FeatureModule } from './shared/feature-module';
import { ErrorCatalog, SHARED_ERROR_ENTRIES } from './shared/http/errors/error-catalog';
import { convertDatabaseError } from './shared/persistence/unavailable-error';

type ErrorsOf<Module> = Module extends { readonly errors: infer Errors } ? Errors : never;
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** All errors of the service; the compiler reports a module whose errors are missing. */
export const ERROR_CATALOG = new ErrorCatalog(
  {
    ...SHARED_ERROR_ENTRIES,
    ...(Object.assign({}, ...FEATURE_MODULES.map((each: FeatureModule) => each.errors)) as Intersection<
      ErrorsOf<(typeof FEATURE_MODULES)[number]>
    >),
  },
  convertDatabaseError,
);
