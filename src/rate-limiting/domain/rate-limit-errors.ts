import { PetStoreError } from '../../shared/domain/pet-store-error';
import type { Rejection } from './rate-limiter';

export const RATE_LIMIT_ERROR_MESSAGES = {
  rate_limit_exceeded:
    "The plan's requests for this minute are used up. Wait for the number of seconds in Retry-After.",
  daily_quota_exceeded:
    "The plan's requests for this day (UTC) are used up. Wait for the number of seconds in Retry-After.",
  key_temporarily_banned:
    'This API key is temporarily banned because it kept sending requests after a 429 response. Wait for the number of seconds in Retry-After.',
  too_many_auth_failures:
    'Too many requests without a valid API key came from this IP address. Wait for the number of seconds in Retry-After, or send a valid key.',
} as const satisfies Readonly<Record<Rejection, string>>;

declare module '../../shared/domain/error-codes' {
  interface ErrorCodes {
    readonly rateLimiting: keyof typeof RATE_LIMIT_ERROR_MESSAGES;
  }
}

/** The message of `rate_limit_exceeded` for a limit of an operation instead of the plan. */
export const THROTTLED_MESSAGE =
  'The requests that this operation allows an account are used up. Wait for the number of seconds in Retry-After.';

/** Thrown when a request exceeds a rate limit. */
export class RateLimitError extends PetStoreError {
  constructor(code: Rejection, message: string = RATE_LIMIT_ERROR_MESSAGES[code]) {
    super(code, message);
  }
}
