import { ERROR_STATUS, type ErrorCode } from './error-codes';

/** A failure that a client is told about: its code decides the HTTP status, its message is shown as it stands. */
export class PetStoreError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

export class ServiceUnavailable extends PetStoreError {
  constructor(cause?: unknown) {
    super(
      'service_unavailable',
      'The service cannot reach its database right now. Retry after the time in Retry-After.',
      {
        cause,
      },
    );
  }
}
