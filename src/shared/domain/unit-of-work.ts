/** Stores several changes together, or none of them. */
export abstract class UnitOfWork {
  /**
   * Runs the work in one transaction. A nested unit of work joins the outer one: if its error is caught, what it has stored stays.
   * @param accountId the account whose request this is: accounts with many requests at once take turns with the others
   * @throws ServiceUnavailableError
   */
  abstract run<T>(work: () => Promise<T>, accountId?: bigint): Promise<T>;

  /**
   * Runs the work after the current transaction, also the outer one of a nested unit of work, has been stored; without a transaction, at
   * once. If it fails, the error is logged.
   */
  abstract afterCommit(work: () => unknown): void;
}
