import { PetStoreError } from '../../shared/domain/pet-store-error';

export const AUTH_ERROR_MESSAGES = {
  missing_api_key: 'An API key is required. Send it in the header Authorization: Bearer <API_KEY>.',
  invalid_api_key: 'The API key is not valid. Check that it is complete and not revoked.',
  expired_api_key: 'The API key has expired. Use a newer key.',
  insufficient_scope: 'The scope of the API key does not allow this. Use a key with another scope.',
  account_suspended: 'The account is suspended. Contact the operator of this service.',
} as const;

/** For operations that also accept other credentials. */
const OTHER_MESSAGES = {
  missing_api_key: 'A credential is required. Send it in the header Authorization: Bearer <CREDENTIAL>.',
  invalid_api_key: 'The credential is not valid here. Check that it is complete, and neither expired nor revoked.',
  expired_api_key: AUTH_ERROR_MESSAGES.expired_api_key,
};

declare module '../../shared/domain/error-codes' {
  interface ErrorCodes {
    readonly auth: keyof typeof AUTH_ERROR_MESSAGES;
  }
}

/** The request has no valid API key, and no other credential that the operation accepts. */
export class AuthenticationError extends PetStoreError {
  constructor(code: keyof typeof OTHER_MESSAGES, { acceptsOthers = false } = {}) {
    super(code, (acceptsOthers ? OTHER_MESSAGES : AUTH_ERROR_MESSAGES)[code]);
  }
}

/** The API key is valid, but its scope is not sufficient. */
export class InsufficientScopeError extends PetStoreError {
  constructor() {
    super('insufficient_scope', AUTH_ERROR_MESSAGES.insufficient_scope);
  }
}

/** The API key is valid, but its account is suspended. */
export class AccountSuspendedError extends PetStoreError {
  constructor() {
    super('account_suspended', AUTH_ERROR_MESSAGES.account_suspended);
  }
}
