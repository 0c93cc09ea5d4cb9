/** Stores several changes together, or none of them. */
export abstract class UnitOfWork {
  /**
   * Runs the work in one transaction. A nested unit of work joins the outer one.
   * @param accountId the account whose request this is: accounts with many requests at once take turns with the others
   * @throws ServiceUnavailableError
   */
  abstract run<T>(work: () => Promise<T>, accountId?: bigint): Promise<T>;
}
