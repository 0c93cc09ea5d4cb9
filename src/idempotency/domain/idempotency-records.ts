/** A request that may come several times and is to be executed once. */
export interface IdempotentRequest {
  readonly accountId: bigint;
  readonly key: string;
  /** SHA-256 of what is asked for; the same key must not come with another one. */
  readonly fingerprint: Buffer;
}

/** What is kept of the answer to an executed request. */
export interface StoredAnswer {
  /** The body, as JSON text. */
  readonly body: string;
  readonly location: string | null;
}

/** Remembers, for 24 hours, the answers to requests that were executed. */
export abstract class IdempotencyRecords {
  /**
   * Executes a request and keeps its answer, in one transaction; nothing is kept when `execute` fails. Of two at the same
   * time, the second waits for the first.
   * @returns the answer kept before, when the request was executed already
   * @throws IdempotencyKeyError `idempotency_key_reused` when another request was executed under this key; ServiceUnavailableError
   */
  abstract once(
    request: IdempotentRequest,
    execute: () => Promise<StoredAnswer>,
  ): Promise<{ readonly answer: StoredAnswer; readonly isReplay: boolean }>;

  /**
   * Removes a batch of expired records, unless another replica is at it.
   * @returns how many
   */
  abstract removeExpired(batchSize: number): Promise<number>;
}
