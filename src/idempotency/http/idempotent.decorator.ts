import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_MAX_LENGTH } from '../domain/idempotency-key';
import { IdempotencyPipe } from './idempotency.pipe';

export const IDEMPOTENT_METADATA = 'api:idempotent';

const InjectOnce = createParamDecorator((_: unknown, context: ExecutionContext) => context);

const documentKey = applyDecorators(
  SetMetadata(IDEMPOTENT_METADATA, true),
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

/**
 * Makes an operation safe to retry, by a `Once` parameter that executes its work: a client that sends an `Idempotency-Key` gets the response
 * of the first execution again, and nothing is executed twice. The work must store everything in the transaction of the request
 * (`TypeOrmUnitOfWork.manager`). Not an interceptor, whose RxJS pipeline would also slow down requests without a key (docs/performance.md).
 */
export function Idempotent(): ParameterDecorator {
  return (target, name, index) => {
    InjectOnce(IdempotencyPipe)(target, name, index);
    if (name !== undefined) {
      documentKey(target, name, Object.getOwnPropertyDescriptor(target, name) ?? {});
    }
  };
}
