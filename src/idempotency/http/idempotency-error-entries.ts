import { HttpStatus } from '@nestjs/common';
import { createErrorEntries } from '../../shared/http/errors/error-catalog';
import { IDEMPOTENCY_ERROR_MESSAGES } from '../domain/idempotency-errors';

export const IDEMPOTENCY_ERROR_ENTRIES = createErrorEntries(IDEMPOTENCY_ERROR_MESSAGES, {
  invalid_idempotency_key: HttpStatus.BAD_REQUEST,
  idempotency_key_reused: [
    HttpStatus.BAD_REQUEST,
    'Nothing was created. For 24 hours, a key belongs to one operation and one body, byte for byte.',
  ],
});
