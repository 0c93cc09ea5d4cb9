import { BRAND } from '../../config/brand';
import { getErrorCode } from '../domain/error-message';
import { isDatabaseUnavailable } from './unavailable-error';

/** The service cannot use the database because of its setup; the message states the reason. */
export class DatabaseSetupError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`The database cannot be used: ${reason}.`, options);
  }
}

/** Another session holds a lock that the migration needs. */
export class MigrationLockedError extends Error {}

/** The schema lacks migrations that this process may not run. */
export class SchemaOutdatedError extends Error {
  constructor(missing: readonly string[]) {
    super(`its schema lacks migrations: ${missing.join(', ')}; the command "${BRAND.name} migrate" runs them`);
  }
}

/** SQLSTATEs of missing privileges and conflicts between sessions. */
const TEMPORARY_SQL_STATE = /^(42501|40\w{3})$/;

/** Whether a failed startup step may succeed later, once the server or the network is repaired. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof MigrationLockedError || error instanceof SchemaOutdatedError || isDatabaseUnavailable(error)) {
    return true;
  }
  return TEMPORARY_SQL_STATE.test(getErrorCode(error) ?? '');
}
