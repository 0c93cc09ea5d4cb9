import { IDEMPOTENCY_ERROR_ENTRIES } from './http/idempotency-error-entries';
import { IdempotencyModule } from './idempotency.module';
import { AddResponseHead1795773600000 } from './persistence/add-response-head.migration';
import { CreateIdempotencyRecords1795278000000 } from './persistence/create-idempotency-records.migration';

export { IDEMPOTENT_METADATA, Idempotent } from './http/idempotent.decorator';
export type { Once } from './http/idempotency.pipe';

export const IDEMPOTENCY = {
  module: IdempotencyModule,
  migrations: [CreateIdempotencyRecords1795278000000, AddResponseHead1795773600000],
  errors: IDEMPOTENCY_ERROR_ENTRIES,
};
