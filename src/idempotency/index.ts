export { IdempotencyModule } from './idempotency.module';
export { Idempotent } from './http/idempotent.decorator';
