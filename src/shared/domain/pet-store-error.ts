import { type ErrorCode, type ErrorCodes, SHARED_ERROR_MESSAGES } from './error-codes';

/** An error whose code and message are returned to the client unchanged. */
export class PetStoreError extends Error {
  /** @param message required for a module's own code; the shared codes have a default */
  constructor(code: ErrorCodes['shared'], message?: string, options?: ErrorOptions);
  constructor(code: ErrorCode, message: string, options?: ErrorOptions);
  constructor(
    readonly code: ErrorCode,
    message: string = SHARED_ERROR_MESSAGES[code as ErrorCodes['shared']],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export class ServiceUnavailableError extends PetStoreError {
  constructor(cause?: unknown) {
    super('service_unavailable', undefined, { cause });
  }
}

/** The stored data has a value that this version does not know, so another version has to respond. */
export class UnknownValueError extends ServiceUnavailableError {
  constructor() {
    super(new Error('This version does not know a stored value'));
  }
}
