import { AsyncResource } from 'node:async_hooks';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../shared/domain/clock';
import { ExpiringMap } from '../shared/domain/expiring-map';
import { PetStoreError } from '../shared/domain/pet-store-error';
import type { Principal } from '../shared/domain/principal';
import { type AccountChanges, ApiKeyRepository, type ChangesPosition } from './domain/api-key.repository';

/** How often a replica polls for changes while keys are in use. */
const POLL_INTERVAL_MS = 250;
/**
 * Changes must take effect within a second, so cached keys are trusted this long after the start of the last successful
 * poll.
 */
const TRUST_MS = 900;
/** After this long without a request, polling stops: with fewer requests than polls, lookups are cheaper. */
const IDLE_MS = 1_000;
/** Slightly more than the minute after which last-used tracking stores the next use, which it learns of from a lookup. */
const CACHE_TTL_MS = 61_000;
/** About 60 MB. */
const CACHE_CAPACITY = 100_000;

/** A key that a lookup found valid. */
export interface ValidKey {
  readonly principal: Principal;
  /** When the key expires, in ms since the epoch; Infinity for never. */
  readonly keyExpiresAt: number;
}

interface CachedKey extends ValidKey {
  /** By the monotonic clock. */
  readonly expiresAt: number;
}

/**
 * Caches valid keys while this replica certainly knows every change of accounts and keys that is at least a second old. It
 * polls the database for changes a few times a second. If a poll takes too long or fails, the cache returns nothing and
 * every key is looked up, until the changes since the last successful poll have arrived.
 */
@Injectable()
export class ApiKeyCache implements OnApplicationShutdown {
  private readonly logger = new Logger(ApiKeyCache.name);
  private readonly keys = new ExpiringMap<string, CachedKey>(CACHE_CAPACITY);
  private position: ChangesPosition | undefined;
  /** Incremented by each poll that brings changes: lookups that began earlier may not know them. */
  private generation = 0;
  /** When the last successful poll began, and when a key was last requested; by the monotonic clock. */
  private confirmedAt = -Infinity;
  private usedAt = -Infinity;
  private isPolling = false;
  private isStopped = false;
  private hasFailed = false;
  /** Bound to no request: neither to its trace nor to its transaction. */
  private readonly startPolling = AsyncResource.bind(() => void this.pollWhileUsed());

  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationShutdown(): void {
    this.isStopped = true;
  }

  get(token: string): Principal | undefined {
    const now = this.clock.monotonic();
    this.usedAt = now;
    if (!this.isPolling && !this.isStopped) {
      this.startPolling();
    }
    if (now - this.confirmedAt >= TRUST_MS) {
      return undefined;
    }
    const cached = this.keys.get(token, now);
    return cached === undefined || (cached.keyExpiresAt !== Infinity && cached.keyExpiresAt <= this.clock.now())
      ? undefined
      : cached.principal;
  }

  /**
   * Must be called before a lookup is sent.
   * @returns a function that caches the key the lookup found. It does nothing if changes have arrived since, or if the
   * lookup read a different database: in both cases it may have missed changes.
   */
  beginLookUp(): (token: string, key: ValidKey, source: string) => void {
    const { generation } = this;
    const now = this.clock.monotonic();
    return (token, key, source) => {
      if (generation === this.generation && source === this.position?.source) {
        this.keys.set(token, { ...key, expiresAt: now + CACHE_TTL_MS }, now);
      }
    };
  }

  private async pollWhileUsed(): Promise<void> {
    this.isPolling = true;
    do {
      const startedAt = this.clock.monotonic();
      try {
        this.forget(await this.repository.changesSince(this.position));
        this.confirmedAt = startedAt;
        this.hasFailed = false;
      } catch (error) {
        // Database outages are reported elsewhere.
        if (!(error instanceof PetStoreError) && !this.hasFailed) {
          this.hasFailed = true;
          this.logger.error(error);
        }
      }
      const leftMs = startedAt + POLL_INTERVAL_MS - this.clock.monotonic();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, leftMs)).unref());
    } while (!this.isStopped && this.clock.monotonic() - this.usedAt < IDLE_MS);
    this.isPolling = false;
  }

  private forget({ accountIds, position }: AccountChanges): void {
    this.position = position;
    if (accountIds === 'all') {
      this.generation++;
      this.keys.clear();
    } else if (accountIds.size > 0) {
      this.generation++;
      for (const [token, { principal }] of this.keys.entries(this.clock.monotonic())) {
        if (accountIds.has(principal.accountId)) {
          this.keys.delete(token);
        }
      }
    }
  }
}
