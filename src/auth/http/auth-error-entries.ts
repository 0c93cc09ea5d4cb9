import { HttpStatus } from '@nestjs/common';
import { createErrorEntries } from '../../shared/http/errors/error-catalog';
import { AUTH_ERROR_MESSAGES } from '../domain/auth-errors';

export const AUTH_ERROR_ENTRIES = createErrorEntries(AUTH_ERROR_MESSAGES, {
  missing_api_key: HttpStatus.UNAUTHORIZED,
  invalid_api_key: HttpStatus.UNAUTHORIZED,
  expired_api_key: HttpStatus.UNAUTHORIZED,
  insufficient_scope: HttpStatus.FORBIDDEN,
  account_suspended: HttpStatus.FORBIDDEN,
});
