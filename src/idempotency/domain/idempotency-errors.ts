import { PetStoreError } from '../../shared/domain/pet-store-error';

export const IDEMPOTENCY_ERROR_MESSAGES = {
  invalid_idempotency_key: 'Idempotency-Key must be 1 to 255 visible ASCII characters, quoted or bare, sent once.',
  idempotency_key_reused:
    'This Idempotency-Key was already used for a different request. Use a new key for each new request.',
} as const;

declare module '../../shared/domain/error-codes' {
  interface ErrorCodes {
    readonly idempotency: keyof typeof IDEMPOTENCY_ERROR_MESSAGES;
  }
}

/** The `Idempotency-Key` of the request is invalid or was reused. */
export class IdempotencyKeyError extends PetStoreError {
  constructor(code: keyof typeof IDEMPOTENCY_ERROR_MESSAGES) {
    super(code, IDEMPOTENCY_ERROR_MESSAGES[code]);
  }
}
