import { HttpStatus } from '@nestjs/common';
import { createErrorEntries } from '../../shared/http/errors/error-catalog';
import { RATE_LIMIT_ERROR_MESSAGES } from '../domain/rate-limit-errors';

export const RATE_LIMIT_ERROR_ENTRIES = createErrorEntries(RATE_LIMIT_ERROR_MESSAGES, {
  rate_limit_exceeded: HttpStatus.TOO_MANY_REQUESTS,
  daily_quota_exceeded: HttpStatus.TOO_MANY_REQUESTS,
  key_temporarily_banned: HttpStatus.TOO_MANY_REQUESTS,
  too_many_auth_failures: HttpStatus.TOO_MANY_REQUESTS,
});
