import { HttpStatus } from '@nestjs/common';
import { LIVE_KEY_PREFIX, TEST_KEY_PREFIX } from '../../config/brand';
import { createErrorEntries } from '../../shared/http/errors/error-catalog';
import { AUTH_ERROR_MESSAGES } from '../domain/auth-errors';

export const AUTH_ERROR_ENTRIES = createErrorEntries(AUTH_ERROR_MESSAGES, {
  missing_api_key: [HttpStatus.UNAUTHORIZED, 'A key in the query or the body is ignored.'],
  invalid_api_key: [
    HttpStatus.UNAUTHORIZED,
    `The key is incomplete, unknown, revoked or of another environment (\`${LIVE_KEY_PREFIX}\` is production, \`${TEST_KEY_PREFIX}\` is any ` +
      'other), or the request has two `Authorization` headers.',
  ],
  expired_api_key: [
    HttpStatus.UNAUTHORIZED,
    'A replaced key expires after its grace period. Ask the operator for a new one.',
  ],
  insufficient_scope: [HttpStatus.FORBIDDEN, 'Nothing was changed.'],
  account_suspended: [HttpStatus.FORBIDDEN, 'The request does not count against the rate limits.'],
});
