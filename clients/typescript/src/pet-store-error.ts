import type { components } from './openapi.js';

/** The error codes of this version of the API. */
export type ErrorCode = components['schemas']['Error']['code'];

/** The codes of errors without an Error body from the service: a failed connection, a timeout, or a gateway's response. */
export type ClientErrorCode = 'connection_failed' | 'timeout' | 'unexpected_response';

/** The rate limit window in the `X-RateLimit-*` headers. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: Date;
}

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
    this.retryAfter = readNumber(response, 'Retry-After');
    this.rateLimit = readRateLimit(response);
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
    : createUnexpectedResponseError(response);
}

export function createUnexpectedResponseError(response: Response, cause?: unknown): PetStoreError {
  const message = `The response (HTTP ${response.status}) is not from the pet store: check the base URL and the gateways.`;
  return new PetStoreError('unexpected_response', message, { response, cause });
}

function parseError(body: string): { readonly code?: unknown; readonly message?: unknown } {
  try {
    return (JSON.parse(body) as object | null) ?? {};
  } catch {
    return {};
  }
}

function readRateLimit(response: Response | undefined): RateLimit | undefined {
  const limit = readNumber(response, 'X-RateLimit-Limit');
  const remaining = readNumber(response, 'X-RateLimit-Remaining');
  const reset = readNumber(response, 'X-RateLimit-Reset');
  return limit === undefined || remaining === undefined || reset === undefined
    ? undefined
    : { limit, remaining, reset: new Date(reset * 1_000) };
}

function readNumber(response: Response | undefined, header: string): number | undefined {
  const value = response?.headers.get(header) ?? '';
  return /^\d+$/.test(value) ? Number(value) : undefined;
}
