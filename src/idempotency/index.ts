export { IdempotencyModule } from './idempotency.module';
export { IDEMPOTENT_METADATA, Idempotent } from './http/idempotent.decorator';
export type { Once, StoredBody } from './http/idempotency.pipe';
export { IDEMPOTENCY_ERROR_ENTRIES } from './http/idempotency-error-entries';
