export { IdempotencyModule } from './idempotency.module';
export { IDEMPOTENT_METADATA, Idempotent } from './http/idempotent.decorator';
export { IDEMPOTENCY_ERROR_ENTRIES } from './http/idempotency-error-entries';
