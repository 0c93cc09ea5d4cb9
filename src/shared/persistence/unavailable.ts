import {
  CannotExecuteNotConnectedError,
  ConnectionIsNotSetError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  TransactionNotStartedError,
} from 'typeorm';
import { ServiceUnavailableError } from '../domain/pet-store-error';
import { sqlState } from './postgres-client';

/**
 * Network failures, and SQLSTATEs: of a server that is full (53), going down or coming up (57P), slow (57014), locked (55P03)
 * or read-only (25006), of a deadlock or a conflict with another transaction (40P01, 40001), of a connection that the server
 * ended (25P03) or that lost its prepared statements (26000), and of a server that lets nobody in: a rotated password (28) or
 * a database that is being restored (3D000).
 */
const UNAVAILABLE =
  /^(ECONN\w+|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOST\w+|ENET\w+|28\w{3}|3D000|53\w{3}|57P\w{2}|57014|55P03|40001|40P01|08\w{3}|25006|25P03|26000)$/;
const UNAVAILABLE_MESSAGE =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client (was closed|has encountered)|Driver not Connected)/;
/** A certificate that one side does not trust, or a server without TLS: what new connections meet while others still work. */
const TLS_FAILURE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;
const TLS_FAILURE_MESSAGE =
  /^(The server does not support SSL connections|There was an error establishing an SSL connection)/;
/** A value that PostgreSQL does not take, or a constraint that it breaks. */
const REJECTED_ROW = /^2[23]\w{3}$/;

/** Whether the failure says that the database cannot be reached or does not answer, rather than that a query is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (
    error instanceof CannotExecuteNotConnectedError ||
    error instanceof ConnectionIsNotSetError ||
    // What TypeORM says in the middle of a transaction whose connection was lost.
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError ||
    error instanceof TransactionNotStartedError
  ) {
    return true;
  }
  if (error instanceof AggregateError) {
    return error.errors.some(isDatabaseUnavailable);
  }
  return (
    isTlsFailure(error) ||
    (error instanceof Error && (UNAVAILABLE.test(sqlState(error) ?? '') || UNAVAILABLE_MESSAGE.test(error.message)))
  );
}

/** Whether the connection failed because of TLS. */
export function isTlsFailure(error: unknown): boolean {
  return error instanceof Error && (TLS_FAILURE.test(sqlState(error) ?? '') || TLS_FAILURE_MESSAGE.test(error.message));
}

/** Whether PostgreSQL executed the statement and rejected what it was given, so that nothing was changed. */
export function isRejectedRow(error: unknown): boolean {
  return REJECTED_ROW.test(sqlState(error) ?? '');
}

/** What a query meets before the first connection: TypeORM's own error would be one of the code. */
export function notConnectedYet(): ServiceUnavailableError {
  return new ServiceUnavailableError(new Error('The database has not been reached since the start'));
}

/**
 * Runs a query; a database that cannot answer becomes a 503.
 * @throws ServiceUnavailableError
 */
export async function orUnavailable<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw isDatabaseUnavailable(error) ? new ServiceUnavailableError(error) : error;
  }
}
