import { HttpStatus } from '@nestjs/common';
import { createErrorEntries } from '../../shared/http/errors/error-catalog';
import { ORDER_ERROR_MESSAGES } from '../domain/order-errors';

export const ORDER_ERROR_ENTRIES = createErrorEntries(ORDER_ERROR_MESSAGES, {
  order_not_found: HttpStatus.NOT_FOUND,
  unknown_pet: HttpStatus.BAD_REQUEST,
  pet_not_available: HttpStatus.CONFLICT,
});
