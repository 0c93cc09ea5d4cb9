import { type ErrorCode, ERRORS, statusOf } from './error-codes';

/** A failure that a client is told about: its code decides the HTTP status, its message, by default that of the code, is shown as it stands. */
export class PetStoreError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string = ERRORS[code][1],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get status(): number {
    return statusOf(this.code);
  }
}

export class ServiceUnavailable extends PetStoreError {
  constructor(cause?: unknown) {
    super('service_unavailable', undefined, { cause });
  }
}
