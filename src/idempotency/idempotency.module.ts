import { Global, Module } from '@nestjs/common';
import { IdempotencyRecords } from './domain/idempotency-records';
import { IdempotencyRecordCleanup } from './idempotency-record-cleanup';
import { PostgresIdempotencyRecords } from './persistence/postgres-idempotency-records';

/** Global, so that a handler only needs the decorator. */
@Global()
@Module({
  providers: [IdempotencyRecordCleanup, { provide: IdempotencyRecords, useClass: PostgresIdempotencyRecords }],
  exports: [IdempotencyRecords],
})
export class IdempotencyModule {}
