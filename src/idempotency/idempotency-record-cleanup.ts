import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { PetStoreError } from '../shared/domain/pet-store-error';
import { IdempotencyRecords } from './domain/idempotency-records';

const REMOVAL_INTERVAL_MS = 60_000;
const BATCH_SIZE = 1_000;
/** The pause between two batches, in which other work can run. */
const PAUSE_MS = 50;

/** Deletes expired records in the background, once a minute. */
@Injectable()
export class IdempotencyRecordCleanup implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(IdempotencyRecordCleanup.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly records: IdempotencyRecords) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.removeExpired().catch((error: unknown) => {
        // Database outages are reported elsewhere; the next run tries again.
        if (!(error instanceof PetStoreError)) {
          this.logger.error(error);
        }
      });
    }, REMOVAL_INTERVAL_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  async removeExpired(): Promise<void> {
    while ((await this.records.removeExpired(BATCH_SIZE)) === BATCH_SIZE) {
      await sleep(PAUSE_MS);
    }
  }
}
