import { WINDOWS, type WindowError } from '../../shared/domain/allowance';
import { PetStoreError } from '../../shared/domain/pet-store-error';
import type { Rejection } from './rate-limiter';

/** The messages of the windows: `for this minute`, `for this day (UTC)`. */
const WINDOW_ERROR_MESSAGES = Object.fromEntries(
  WINDOWS.map(({ name, opens, error }) => {
    const window = opens === 'calendar' ? `${name} (UTC)` : name;
    return [
      error,
      `The plan's requests for this ${window} are used up. Wait for the number of seconds in Retry-After.`,
    ] as const;
  }),
) as Record<WindowError, string>;

export const RATE_LIMIT_ERROR_MESSAGES = {
  ...WINDOW_ERROR_MESSAGES,
  key_temporarily_banned:
    'This API key is temporarily banned because it kept sending requests after a 429 response. Wait for the number of seconds in Retry-After.',
  too_many_auth_failures:
    'Too many requests without a valid API key came from this IP address. Wait for the number of seconds in Retry-After, or send a valid key.',
} satisfies Readonly<Record<Rejection, string>>;

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
