import { HttpStatus } from '@nestjs/common';
import { createErrorEntries } from '../../shared/http/errors/error-catalog';
import { RATE_LIMIT_ERROR_MESSAGES } from '../domain/rate-limit-errors';

const STATUSES = Object.fromEntries(
  Object.keys(RATE_LIMIT_ERROR_MESSAGES).map((code) => [code, HttpStatus.TOO_MANY_REQUESTS]),
) as Record<keyof typeof RATE_LIMIT_ERROR_MESSAGES, number>;

export const RATE_LIMIT_ERROR_ENTRIES = createErrorEntries(RATE_LIMIT_ERROR_MESSAGES, {
  ...STATUSES,
  key_temporarily_banned: [
    HttpStatus.TOO_MANY_REQUESTS,
    'Other keys of the account are not banned. The next ban is longer.',
  ],
  too_many_auth_failures: [HttpStatus.TOO_MANY_REQUESTS, 'A valid key need not wait.'],
});
