import { createError, PetStoreError } from './pet-store-error.js';

export interface RetryOptions {
  /** The timeout of one attempt, up to the last byte of the response. Default: 10,000 ms. */
  readonly timeoutMs?: number;
  /** The maximum number of retries. Default: 4. */
  readonly maxRetries?: number;
  /** The longest wait for `Retry-After`: if the service asks for more, the error is thrown immediately. Default: 120 s. */
  readonly maxRetryAfterSeconds?: number;
}

export interface TransportRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** Whether sending the request twice has the same effect as sending it once. */
  readonly isIdempotent: boolean;
}

/** A successful response with its unparsed body. */
export interface TransportResponse {
  readonly response: Response;
  readonly text: string;
}

const BACKOFF_MS = 500;
const RETRIED_STATUSES = [429, 502, 503, 504];

/** Sends requests, and retries them when that is safe and may succeed. */
export class Transport {
  /** After a 429, all requests wait: another one would be rejected as well. */
  private pausedUntil = 0;
  private readonly timeoutMs: number;
  private readonly maxRetries: number;
  private readonly maxWaitMs: number;

  constructor(
    private readonly fetch: typeof globalThis.fetch,
    { timeoutMs = 10_000, maxRetries = 4, maxRetryAfterSeconds = 120 }: RetryOptions = {},
  ) {
    this.timeoutMs = timeoutMs;
    this.maxRetries = maxRetries;
    this.maxWaitMs = maxRetryAfterSeconds * 1_000;
  }

  /** @throws PetStoreError, or the signal's reason once it is aborted */
  async send(request: TransportRequest, signal?: AbortSignal): Promise<TransportResponse> {
    for (let attempt = 0; ; attempt++) {
      await sleep(this.pausedUntil - Date.now(), signal);
      try {
        return await this.attempt(request, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof PetStoreError) || !request.isIdempotent || attempt >= this.maxRetries) {
          throw error;
        }
        await sleep(this.computeRetryDelay(error, attempt), signal);
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
      if (!response.ok) {
        throw createError(response, text);
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

  /** @throws the error if a retry cannot succeed */
  private computeRetryDelay(error: PetStoreError, attempt: number): number {
    const { status, retryAfter = 0 } = error;
    const retryAfterMs = retryAfter * 1_000;
    if ((status !== undefined && !RETRIED_STATUSES.includes(status)) || retryAfterMs > this.maxWaitMs) {
      throw error;
    }
    if (status === 429) {
      this.pausedUntil = Math.max(this.pausedUntil, Date.now() + retryAfterMs);
    }
    // The random delay prevents many clients from retrying at the same moment.
    return retryAfterMs + Math.random() * Math.min(BACKOFF_MS * 2 ** attempt, this.maxWaitMs);
  }
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (ms <= 0) {
    return;
  }
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish);
  });
  signal?.throwIfAborted();
}
