import { CannotExecuteNotConnectedError, ConnectionIsNotSetError, EntityMetadataNotFoundError } from 'typeorm';
import { ServiceUnavailable } from '../domain/pet-store-error';

/**
 * Network failures, and the SQLSTATE of a server that is full (53), goes down or comes up (57P), or lets nobody in: a
 * rotated password (28) or a database that is being restored (3D000).
 */
const UNAVAILABLE =
  /^(ECONN\w+|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOST\w+|ENET\w+|28\w{3}|3D000|53\w{3}|57P\w{2}|57014|08\w{3})$/;
const UNAVAILABLE_MESSAGE =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client (was closed|has encountered)|Driver not Connected)/;

/** Whether the failure says that the database cannot be reached or does not answer, rather than that a query is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (
    error instanceof CannotExecuteNotConnectedError ||
    error instanceof ConnectionIsNotSetError ||
    // Before the first connection TypeORM has not read its schemas either.
    error instanceof EntityMetadataNotFoundError
  ) {
    return true;
  }
  if (error instanceof AggregateError) {
    return error.errors.some(isDatabaseUnavailable);
  }
  if (!(error instanceof Error)) {
    return false;
  }
  const code = (error as NodeJS.ErrnoException).code;
  return UNAVAILABLE.test(code ?? '') || UNAVAILABLE_MESSAGE.test(error.message);
}

/**
 * Runs a query; a database that cannot answer becomes a 503.
 * @throws ServiceUnavailable
 */
export async function orUnavailable<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw isDatabaseUnavailable(error) ? new ServiceUnavailable(error) : error;
  }
}
