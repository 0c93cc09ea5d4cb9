import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_MAX_LENGTH } from '../domain/idempotency-key';
import { type ExecuteOnce, IdempotencyPipe, InjectExecuteOnce } from './idempotency.pipe';

export const IDEMPOTENT_METADATA = 'petstore:idempotent';

type Handler = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Makes an operation with a JSON body safe to retry: a client that sends an `Idempotency-Key` gets the response of the
 * first execution again, and nothing is executed twice. The handler must store everything in the transaction of the request
 * (`TypeOrmUnitOfWork.manager`).
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    SetMetadata(IDEMPOTENT_METADATA, true),
    wrapHandler,
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

/**
 * Wraps the handler, and adds a parameter into which the pipe injects the function that executes the handler once. An interceptor
 * would do the same, but would make every request pay for its RxJS pipeline, also those without a key: docs/performance.md has the
 * figures.
 */
function wrapHandler(target: object, name: string | symbol, descriptor: PropertyDescriptor): void {
  const handler = descriptor.value as Handler;
  // Unlike the handler's length, this includes parameters with default values.
  const { length: index } = Reflect.getMetadata('design:paramtypes', target, name) as readonly unknown[];
  InjectExecuteOnce(IdempotencyPipe)(target, name, index);
  const wrapped: Handler = function (...args) {
    const executeOnce = args[index] as ExecuteOnce | undefined;
    return executeOnce === undefined ? handler.apply(this, args) : executeOnce(() => handler.apply(this, args));
  };
  // Decorators that were applied before this one left their metadata on the handler.
  Reflect.getMetadataKeys(handler).forEach((key) => {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), wrapped);
  });
  descriptor.value = Object.defineProperty(wrapped, 'name', { value: handler.name });
}
