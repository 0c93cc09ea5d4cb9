import { AUTH_ERROR_ENTRIES } from './auth';
import { IDEMPOTENCY_ERROR_ENTRIES } from './idempotency';
import { ORDER_ERROR_ENTRIES } from './orders';
import { PET_ERROR_ENTRIES } from './pets';
import { RATE_LIMIT_ERROR_ENTRIES } from './rate-limiting';
import { ErrorCatalog, SHARED_ERROR_ENTRIES } from './shared/http/errors/error-catalog';

/** All errors of the service; the compiler reports a module whose errors are missing. */
export const ERROR_CATALOG = new ErrorCatalog({
  ...SHARED_ERROR_ENTRIES,
  ...AUTH_ERROR_ENTRIES,
  ...RATE_LIMIT_ERROR_ENTRIES,
  ...IDEMPOTENCY_ERROR_ENTRIES,
  // One per line, so that branches that add modules merge without conflicts.
  ...PET_ERROR_ENTRIES,
  ...ORDER_ERROR_ENTRIES,
});
