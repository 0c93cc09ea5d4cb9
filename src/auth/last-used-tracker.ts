import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../shared/domain/clock';
import { PetStoreError } from '../shared/domain/pet-store-error';
import { ApiKeyRepository, type LastUsedUpdate } from './domain/api-key.repository';

const INTERVAL_MS = 15_000;
/** Small batches with pauses, because the database would take a quarter of a second for 10,000 keys, and delay requests meanwhile. */
const BATCH_SIZE = 100;
const PAUSE_MS = 50;

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
    this.timer = setInterval(() => void this.write(PAUSE_MS), INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }

  record(keyId: bigint): void {
    this.lastUsedTimes.set(keyId, this.clock.now());
  }

  /**
   * Writes the times recorded so far. Times that the database does not accept are lost, which is acceptable.
   * @param pauseMs how long to wait after each batch
   */
  async write(pauseMs = 0): Promise<void> {
    for (let rest = this.lastUsedTimes.size; rest > 0 && this.lastUsedTimes.size > 0; rest -= BATCH_SIZE) {
      try {
        await this.keys.recordLastUsed(this.takeBatch());
      } catch (error) {
        if (error instanceof PetStoreError) {
          // Database outages are reported elsewhere.
          return;
        }
        // The other batches can still be written.
        this.logger.error(error);
      }
      if (pauseMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      }
    }
  }

  private takeBatch(): LastUsedUpdate[] {
    const batch: LastUsedUpdate[] = [];
    for (const [keyId, at] of this.lastUsedTimes) {
      this.lastUsedTimes.delete(keyId);
      if (batch.push({ keyId, at: new Date(at) }) === BATCH_SIZE) {
        break;
      }
    }
    return batch;
  }
}
