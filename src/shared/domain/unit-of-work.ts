/** Stores all of several changes, or none. */
export abstract class UnitOfWork {
  /**
   * Runs work in a transaction that all its calls share. A nested unit of work joins the outer one.
   * @throws ServiceUnavailableError
   */
  abstract run<T>(work: () => Promise<T>): Promise<T>;
}
