import { DatabaseError } from 'pg';
import {
  CannotExecuteNotConnectedError,
  ConnectionIsNotSetError,
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  TransactionNotStartedError,
} from 'typeorm';
import { PetStoreError, ServiceUnavailableError } from '../domain/pet-store-error';
import { getErrorCode } from '../domain/error-message';

/**
 * Codes of errors of an open connection, and SQLSTATEs: insufficient resources (53), I/O errors (58), shutdown or startup (57P), timeouts
 * (57014), locks (55P03), a read-only server (25006), deadlocks, serialization failures and unknown outcomes (40P01, 40001, 40003), sessions
 * ended by the server (25P03, 25P04), and lost prepared statements (26000).
 */
const UNAVAILABLE =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOST\w+|ENET\w+|53\w{3}|58\w{3}|57P\w{2}|57014|55P03|40001|40003|40P01|08\w{3}|25006|25P0[34]|26000|42P05)$/;
const UNAVAILABLE_MESSAGE =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client (was closed|has encountered)|Driver not Connected)/;
/** Such as a result of another statement, or a statement with too few parameters. */
export const PROTOCOL_VIOLATION = '08P01';
/** Codes and messages of a connection that cannot be used any longer. */
const CONNECTION_LOST = /^(ECONN\w+|EPIPE|57P\w{2}|08\w{3}|25006|25P0[234])$/;
const CONNECTION_LOST_MESSAGE = /^(Connection terminated|Client (was closed|has encountered))/;
/** An untrusted certificate, or a server without TLS. New connections fail while existing ones still work. */
const TLS_FAILURE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;
const TLS_FAILURE_MESSAGE =
  /^(The server does not support SSL connections|There was an error establishing an SSL connection)/;
/** Text that is too long, numbers and dates out of range, characters that PostgreSQL cannot store, and values of another type. */
const REJECTED_VALUE = /^22(001|003|007|008|021|P02|P05)$/;
const REJECTED_VALUE_MESSAGE =
  'A value of the request cannot be stored: it is too long, out of range, of another type, or has NUL or lone surrogates.';
/** An invalid value, a violated constraint or policy, or what a trigger raises. */
const REJECTED_ROW = /^(2[23]\w{3}|P0\w{3}|42501|44000)$/;

/** Whether the error means that the database is unavailable. Other errors mean that a query is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (
    error instanceof CannotExecuteNotConnectedError ||
    error instanceof ConnectionIsNotSetError ||
    isTransactionLost(error)
  ) {
    return true;
  }
  if (error instanceof AggregateError) {
    // Those of all addresses of a host have codes.
    return error.errors.some(isDatabaseUnavailable) && error.errors.every((each) => getErrorCode(each) !== undefined);
  }
  return (
    isTlsFailure(error) ||
    (error instanceof Error &&
      (isConnectError(error) ||
        isFatal(error) ||
        UNAVAILABLE.test(getErrorCode(error) ?? '') ||
        UNAVAILABLE_MESSAGE.test(error.message)))
  );
}

/**
 * Turns an error of any code, not only of a known query, into that of the service if the database is unavailable, or if TypeORM was given a
 * value of the request that no rule had checked.
 */
export function convertDatabaseError(error: unknown): unknown {
  const isMisuse = isTransactionLost(error) || getErrorCode(error) === PROTOCOL_VIOLATION;
  if (isDatabaseUnavailable(error) && !isMisuse) {
    return new ServiceUnavailableError(error);
  }
  // All statements of the service have parameters.
  const hasParameters =
    error instanceof DatabaseError || (error instanceof QueryFailedError && Boolean(error.parameters?.length));
  return hasParameters && REJECTED_VALUE.test(getErrorCode(error) ?? '')
    ? new PetStoreError('bad_request', REJECTED_VALUE_MESSAGE)
    : error;
}

/** Whether it is TypeORM's error when a transaction has lost its connection, or when code uses one that has ended. */
function isTransactionLost(error: unknown): boolean {
  return (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError ||
    error instanceof TransactionNotStartedError
  );
}

/**
 * Marks an error of opening a connection: whatever it is, there is no connection. Node does the same, but an untrusted certificate or the
 * answer of a pooler has no system call.
 */
export function markAsConnectError(error: Error): Error {
  return Object.assign(error, { syscall: 'connect' });
}

function isConnectError({ syscall = '' }: NodeJS.ErrnoException): boolean {
  return ['connect', 'getaddrinfo'].includes(syscall);
}

/** Whether the server or a pooler ends the session with this error, whatever its SQLSTATE. */
function isFatal({ severity = '' }: Error & { readonly severity?: string }): boolean {
  return ['FATAL', 'PANIC'].includes(severity);
}

/** Whether the connection was lost, or belongs to the wrong server, so that another one may work. */
export function isConnectionLost(error: unknown): boolean {
  return (
    error instanceof Error &&
    (isFatal(error) || CONNECTION_LOST.test(getErrorCode(error) ?? '') || CONNECTION_LOST_MESSAGE.test(error.message))
  );
}

/** Whether the connection failed because of TLS. */
export function isTlsFailure(error: unknown): boolean {
  return (
    error instanceof Error && (TLS_FAILURE.test(getErrorCode(error) ?? '') || TLS_FAILURE_MESSAGE.test(error.message))
  );
}

/** Whether PostgreSQL executed the statement and rejected its values, so that nothing was changed. */
export function isDataOrConstraintError(error: unknown): boolean {
  return REJECTED_ROW.test(getErrorCode(error) ?? '');
}

/** The error of a query before the first connection: TypeORM's own error would look like a bug in the code. */
export function createNotConnectedError(): ServiceUnavailableError {
  return new ServiceUnavailableError(new Error('The replica has not connected to the database since startup'));
}

/**
 * Runs a query and converts an unavailable database into a 503 error.
 * @throws ServiceUnavailableError
 */
export async function convertUnavailableError<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw isDatabaseUnavailable(error) ? new ServiceUnavailableError(error) : error;
  }
}
