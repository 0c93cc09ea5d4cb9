/** A request that may be sent several times but is executed once. */
export interface IdempotentRequest {
  readonly accountId: bigint;
  readonly key: string;
  /** SHA-256 of the request; it must be the same whenever the key is used. */
  readonly fingerprint: Buffer;
}

/** The stored part of the response to an executed request. */
export interface StoredResponse {
  /** The body, as JSON text. */
  readonly body: string;
  /** Null if an older version of the service stored the response. */
  readonly status: number | null;
  /** The headers that the handler set itself, by lower-case name. */
  readonly headers: ResponseHeaders;
}

export type ResponseHeaders = Readonly<Record<string, string | number | string[] | undefined>>;

/** Stores the responses to executed requests for 24 hours. */
export abstract class IdempotencyRecords {
  /**
   * Executes a request and stores its response, in one transaction; stores nothing if `execute` fails. Of two concurrent
   * requests with the same key, the second waits for the first.
   * @returns the stored response, if the request was already executed
   * @throws IdempotencyKeyError `idempotency_key_reused` if the key was used for a different request;
   * ServiceUnavailableError
   */
  abstract executeOnce(
    request: IdempotentRequest,
    execute: () => Promise<StoredResponse>,
  ): Promise<{ readonly response: StoredResponse; readonly isReplay: boolean }>;

  /**
   * Deletes a batch of expired records, unless another replica is doing so.
   * @returns the number of deleted records
   */
  abstract removeExpired(batchSize: number): Promise<number>;
}
