import { type ErrorCode, type ErrorCodes, SHARED_ERRORS } from './error-codes';

/** A failure that a client is told about: programs go by its code, people by its message, which is shown as it stands. */
export class PetStoreError extends Error {
  /** @param message needed for a module's own code; the codes of all operations have one */
  constructor(code: ErrorCodes['shared'], message?: string, options?: ErrorOptions);
  constructor(code: ErrorCode, message: string, options?: ErrorOptions);
  constructor(
    readonly code: ErrorCode,
    message: string = SHARED_ERRORS[code as ErrorCodes['shared']],
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
