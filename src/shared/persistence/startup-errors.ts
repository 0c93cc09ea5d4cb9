import { sqlState } from './postgres-client';
import { isDatabaseUnavailable } from './unavailable';

/** The database cannot be used as it is set up; the message says why. */
export class DatabaseSetupError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`The database cannot be used: ${reason}.`, options);
  }
}

/** Another session holds a lock that the migration needs. */
export class MigrationLockedError extends Error {}

/** The schema lacks migrations, and this process must not run them. */
export class SchemaOutdatedError extends Error {
  constructor(missing: readonly string[]) {
    super(`its schema lacks migrations: ${missing.join(', ')}; the command "petstore migrate" runs them`);
  }
}

/** SQLSTATE of logins, missing databases and privileges, hot standbys, conflicts with other sessions, and full disks. */
const TEMPORARY_STATE = /^(28\w{3}|3D000|42501|25006|40\w{3}|55P03|58\w{3})$/;

/** Whether what failed at the start may succeed later, once somebody has repaired the server or the network. */
export function mayHeal(error: unknown): boolean {
  if (error instanceof MigrationLockedError || error instanceof SchemaOutdatedError || isDatabaseUnavailable(error)) {
    return true;
  }
  return TEMPORARY_STATE.test(sqlState(error) ?? '');
}
