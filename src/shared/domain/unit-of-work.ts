/** Makes one of several changes: all of them are stored, or none. */
export abstract class UnitOfWork {
  /**
   * Runs work in a transaction that everything it calls takes part in. A unit of work within another is part of it.
   * @throws ServiceUnavailableError
   */
  abstract run<T>(work: () => Promise<T>): Promise<T>;
}
