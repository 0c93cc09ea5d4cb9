import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_MAX_LENGTH } from '../domain/idempotency-key';
import { IdempotencyInterceptor } from './idempotency.interceptor';

export const IDEMPOTENT_METADATA = 'petstore:idempotent';

/**
 * Makes an operation with a JSON body safe to retry: a client that sends an `Idempotency-Key` gets the response of the
 * first execution again, and nothing is executed twice. The handler must store everything in the transaction of the request
 * (`TypeOrmUnitOfWork.manager`).
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    SetMetadata(IDEMPOTENT_METADATA, true),
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: 'Idempotency-Key',
      description:
        'Makes the request safe to retry: for 24 hours, the same key with the same body returns the first response again, ' +
        'with `Idempotent-Replayed: true`, and creates nothing. A random UUID is a good key. ' +
        '1 to 255 visible ASCII characters, quoted or bare.',
      required: false,
      schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_LENGTH, pattern: IDEMPOTENCY_KEY.source },
      example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
    }),
    ApiErrors('invalid_idempotency_key', 'idempotency_key_reused'),
  );
}
