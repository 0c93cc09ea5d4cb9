import { PetStoreError } from '../../shared/domain/pet-store-error';

export const AUTH_ERRORS = {
  missing_api_key: 'An API key is required. Send it in the header Authorization: Bearer <API_KEY>.',
  invalid_api_key: 'The API key is not valid. Check that it is complete and not revoked.',
  expired_api_key: 'The API key has expired. Use a newer key of the account.',
} as const;

declare module '../../shared/domain/error-codes' {
  interface ErrorCodes {
    readonly auth: keyof typeof AUTH_ERRORS;
  }
}

/** The request carries no valid API key. */
export class AuthenticationError extends PetStoreError {
  constructor(code: keyof typeof AUTH_ERRORS) {
    super(code, AUTH_ERRORS[code]);
  }
}
