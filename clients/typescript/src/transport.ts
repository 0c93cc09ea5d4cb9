import { readWindow } from './headers.js';
import { createError, PetStoreError } from './pet-store-error.js';
import { RequestQueue } from './request-queue.js';
import { MAX_DELAY_MS, sleep } from './wait.js';

export interface TransportOptions {
  /** The timeout of one attempt, up to the last byte of the response. Default: 10,000 ms. */
  readonly timeoutMs?: number;
  /** The maximum number of retries. Default: 4. */
  readonly maxRetries?: number;
  /**
   * The longest wait for `Retry-After` or for the reset of the rate limit: if it takes longer, the error is thrown immediately. Default:
   * 120 s.
   */
  readonly maxRetryAfterSeconds?: number;
  /** The maximum number of requests at once; further calls wait. Default: 10. */
  readonly maxConcurrency?: number;
}

export interface TransportRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** Whether sending the request twice has the same effect as sending it once. */
  readonly isIdempotent: boolean;
  /** Whether the request counts in the windows of the rate limit. Others are sent without waiting for them. */
  readonly isRateLimited: boolean;
}

/** A successful response with its unparsed body. */
export interface TransportResponse {
  readonly response: Response;
  readonly text: string;
}

const BACKOFF_MS = 500;
/** Timers cannot wait for longer than 24 days. */
const MAX_WAIT_MS = 2 ** 30;
const RETRIED_STATUSES = [408, 429, 502, 503, 504];

/** Sends requests within the rate limit, and retries them when that is safe and may succeed. */
export class Transport {
  private readonly queue: RequestQueue;
  private readonly timeoutMs: number;
  private readonly maxRetries: number;
  private readonly maxWaitMs: number;

  /** @throws PetStoreError for an option that is out of range */
  constructor(
    private readonly fetch: typeof globalThis.fetch,
    { timeoutMs = 10_000, maxRetries = 4, maxRetryAfterSeconds = 120, maxConcurrency = 10 }: TransportOptions = {},
  ) {
    requireRange({ timeoutMs }, 1, MAX_DELAY_MS);
    requireRange({ maxRetries, maxRetryAfterSeconds }, 0);
    requireRange({ maxConcurrency }, 1);
    this.timeoutMs = Math.ceil(timeoutMs);
    this.maxRetries = maxRetries;
    this.maxWaitMs = Math.min(maxRetryAfterSeconds * 1_000, MAX_WAIT_MS);
    this.queue = new RequestQueue(maxConcurrency, this.maxWaitMs);
  }

  /** @throws PetStoreError, or the signal's reason once it is aborted */
  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    // Node.js warns about more than 10 listeners, which the caller's signal would have if it is shared by many calls.
    const callSignal = signal && AbortSignal.any([signal]);
    const sendOnce = () => this.attempt(request, callSignal);
    let backoffMs = 0;
    for (let attempt = 0; ; attempt++) {
      try {
        return await (request.isRateLimited ? this.queue.run(sendOnce, callSignal) : sendOnce());
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof PetStoreError) || attempt >= this.maxRetries) {
          throw error;
        }
        // A request with a 429 has had no effect.
        if (!request.isIdempotent && error.status !== 429) {
          throw error;
        }
        backoffMs = this.computeBackoff(error, backoffMs);
        // The random delay prevents many clients from retrying at the same moment.
        await sleep(backoffMs + Math.random() * Math.min(BACKOFF_MS * 2 ** attempt, this.maxWaitMs), callSignal);
      }
    }
  }

  private async attempt(
    { url, method, headers, body }: TransportRequest,
    signal: AbortSignal | undefined,
  ): Promise<TransportResponse> {
    // Browsers require that fetch is not called as a method.
    const { fetch } = this;
    const timeout = AbortSignal.timeout(this.timeoutMs);
    try {
      const response = await fetch(url, {
        method,
        headers,
        ...(body !== undefined && { body }),
        // A redirected POST could become a GET.
        redirect: 'manual',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      const text = await response.text();
      const error = response.ok ? undefined : createError(response, text);
      this.noteRateLimit(response, error);
      if (error) {
        throw error;
      }
      return { response, text };
    } catch (cause) {
      if (cause instanceof PetStoreError) {
        throw cause;
      }
      throw timeout.aborted
        ? new PetStoreError('timeout', `The response was not complete within ${this.timeoutMs} ms.`, { cause })
        : new PetStoreError('connection_failed', 'The connection failed before the response was complete.', { cause });
    }
  }

  private noteRateLimit({ status, headers }: Response, error: PetStoreError | undefined): void {
    const window = readWindow(headers);
    if (status === 429) {
      this.queue.notePause(error?.retryAfter === undefined ? (window?.resetMs ?? 0) : error.retryAfter * 1_000, error);
    } else if (window) {
      this.queue.noteWindow(window);
    }
  }

  /**
   * Returns `Retry-After`, or twice the previous one of the request if that is longer.
   * @throws the error if a retry cannot succeed
   */
  private computeBackoff(error: PetStoreError, previousMs: number): number {
    const { status, retryAfter = 0 } = error;
    const retryAfterMs = retryAfter * 1_000;
    if ((status !== undefined && !RETRIED_STATUSES.includes(status)) || retryAfterMs > this.maxWaitMs) {
      throw error;
    }
    return Math.max(retryAfterMs, Math.min(previousMs * 2, this.maxWaitMs));
  }
}

/** @throws PetStoreError that names an option whose value is NaN or out of range */
function requireRange(options: Readonly<Record<string, number>>, min: number, max = Infinity): void {
  for (const [name, value] of Object.entries(options)) {
    if (!(value >= min && value <= max)) {
      const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
      throw new PetStoreError('invalid_input', `${name} must be a number ${range}, not ${value}.`);
    }
  }
}
