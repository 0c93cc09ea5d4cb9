import { HttpStatus } from '@nestjs/common';
import { createErrorEntries } from '../../shared/http/errors/error-catalog';
import { ORDER_ERROR_MESSAGES } from '../domain/order-errors';

export const ORDER_ERROR_ENTRIES = createErrorEntries(ORDER_ERROR_MESSAGES, {
  order_not_found: [
    HttpStatus.NOT_FOUND,
    'Orders of other accounts are not found either. Use an `id` from the list of orders.',
  ],
  unknown_pet: [HttpStatus.BAD_REQUEST, 'Nothing was ordered. Use an `id` from the list of animals.'],
  pet_not_available: [
    HttpStatus.CONFLICT,
    'Nothing was ordered. `GET /pets?status=available` lists other animals. If you got no response to your own order, retry it with its ' +
      '`Idempotency-Key`, which returns the order.',
  ],
});
