/** Stores several changes together, or none of them. */
export abstract class UnitOfWork {
  /**
   * Runs the work in one transaction. A nested unit of work joins the outer one.
   * @throws ServiceUnavailableError
   */
  abstract run<T>(work: () => Promise<T>): Promise<T>;
}
