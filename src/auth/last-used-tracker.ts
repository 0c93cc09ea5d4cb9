import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../shared/domain/clock';
import { PetStoreError } from '../shared/domain/pet-store-error';
import { ApiKeyRepository } from './domain/api-key.repository';

const INTERVAL_MS = 15_000;
const BATCH_SIZE = 1_000;

/** Tracks when keys were last used: in memory while requests run, written in batches in the background. */
@Injectable()
export class LastUsedTracker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(LastUsedTracker.name);
  private readonly lastUsedTimes = new Map<bigint, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.write(), INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }

  record(keyId: bigint): void {
    this.lastUsedTimes.set(keyId, this.clock.now());
  }

  /** Writes the recorded times. Times that the database does not accept are lost, which is acceptable. */
  async write(): Promise<void> {
    const updates = Array.from(this.lastUsedTimes, ([keyId, at]) => ({ keyId, at: new Date(at) }));
    this.lastUsedTimes.clear();
    try {
      for (let start = 0; start < updates.length; start += BATCH_SIZE) {
        await this.keys.recordLastUsed(updates.slice(start, start + BATCH_SIZE));
      }
    } catch (error) {
      // Database outages are reported elsewhere.
      if (!(error instanceof PetStoreError)) {
        this.logger.error(error);
      }
    }
  }
}
