import { type RateLimit, readRateLimit, readRetryAfter } from './headers.js';
import type { components } from './openapi.js';

/** The error codes of this version of the API. */
export type ErrorCode = components['schemas']['Error']['code'];

/**
 * The codes of errors without an Error body from the service: input that cannot be sent, a failed connection, a timeout, or a gateway's
 * response.
 */
export type ClientErrorCode = 'invalid_input' | 'connection_failed' | 'timeout' | 'unexpected_response';

/** The only error that an operation throws, except for an aborted signal's reason. */
export class PetStoreError extends Error {
  override readonly name = 'PetStoreError';
  /** A newer service may send codes that this version does not know. */
  readonly code: ErrorCode | ClientErrorCode | (string & {});
  /** The HTTP status code, unless there was no response. */
  readonly status: number | undefined;
  /** Identifies the request in the service's logs. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next request. */
  readonly retryAfter: number | undefined;
  readonly rateLimit: RateLimit | undefined;

  constructor(code: PetStoreError['code'], message: string, { response, cause }: PetStoreErrorSource = {}) {
    super(message, { cause });
    this.code = code;
    this.status = response?.status;
    this.requestId = response?.headers.get('X-Request-Id') ?? undefined;
    this.retryAfter = response && readRetryAfter(response.headers);
    this.rateLimit = response && readRateLimit(response.headers);
  }
}

export interface PetStoreErrorSource {
  readonly response?: Response;
  readonly cause?: unknown;
}

/** Creates the error for an unsuccessful response with this body. */
export function createError(response: Response, body: string): PetStoreError {
  const { code, message } = parseError(body);
  return typeof code === 'string' && typeof message === 'string'
    ? new PetStoreError(code, message, { response })
    : createUnexpectedResponseError(response, 'it has no error code');
}

/** Creates the error for a response that the service does not send. */
export function createUnexpectedResponseError(response: Response, reason: string, cause?: unknown): PetStoreError {
  const message = `The response (HTTP ${response.status}) is not from the pet store: ${reason}. Check the base URL and the gateways.`;
  return new PetStoreError('unexpected_response', message, { response, cause });
}

function parseError(body: string): { readonly code?: unknown; readonly message?: unknown } {
  try {
    return (JSON.parse(body) as object | null) ?? {};
  } catch {
    return {};
  }
}
