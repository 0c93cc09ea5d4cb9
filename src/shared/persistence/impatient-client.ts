import { Client } from 'pg';

/** A query that PostgreSQL did not answer within `query_timeout`, as `pg` reports it. */
const READ_TIMEOUT_MESSAGE = 'Query read timeout';

/**
 * A connection that is given up when a query is not answered in time. `pg` itself would hand it to the next request, where
 * it goes on not answering: for good, when the server's machine is gone and the connection does not know.
 */
export class ImpatientClient extends Client {
  override query = ((...args: [string]) => {
    const result: unknown = super.query(...args);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        if (error instanceof Error && error.message === READ_TIMEOUT_MESSAGE) {
          void this.end();
        }
      });
    }
    return result;
  }) as Client['query'];
}
