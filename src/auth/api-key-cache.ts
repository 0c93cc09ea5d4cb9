import { AsyncResource } from 'node:async_hooks';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../shared/domain/clock';
import { ExpiringMap } from '../shared/domain/expiring-map';
import { PetStoreError } from '../shared/domain/pet-store-error';
import type { Principal } from '../shared/domain/principal';
import { parseScope } from '../shared/domain/scope';
import { getVisiblePart, hashSecret } from './api-key-secret';
import {
  type AccountChanges,
  ApiKeyRepository,
  type ChangesPosition,
  type KeyWithAccount,
} from './domain/api-key.repository';
import { LastUsedTracker } from './last-used-tracker';
import { createPrincipal } from './principal';

/** How often a replica polls for changes while keys are in use. */
const POLL_INTERVAL_MS = 250;
/** Changes must take effect within a second, so cached keys are trusted for this long after the last successful poll began. */
const MAX_STALENESS_MS = 900;
/** After this long without a request, polling stops: with fewer requests than polls, lookups are cheaper. */
const IDLE_TIMEOUT_MS = 1_000;
/** A change takes effect after this time at the latest, even if its session had disabled the triggers that record changes. */
const CACHE_TTL_MS = 300_000;
/** Slightly more than a minute, because at most one use of a key per minute is stored. */
const USE_RECORDING_INTERVAL_MS = 61_000;
const CACHE_CAPACITY = 100_000;

/** A key that a lookup found. */
export interface FoundKey {
  /** undefined if this version does not know the plan of the account, and therefore its limits. */
  readonly principal: Principal | undefined;
  readonly isRevoked: boolean;
  /** When the key expires, in ms since the epoch: Infinity for never, and NaN, which counts as expired, if it cannot be read. */
  readonly keyExpiresAt: number;
}

/** Times are from the monotonic clock. */
interface CachedKey extends Pick<FoundKey, 'keyExpiresAt'> {
  readonly principal: Principal;
  readonly expiresAt: number;
  /** When a use was last recorded. */
  useRecordedAt: number;
}

/**
 * Caches valid keys. A cached key is used only while this replica has seen every change to accounts and keys that was committed more
 * than a second ago. The cache polls the database for changes a few times a second. If a poll takes too long or fails, the cache
 * returns nothing and every key is looked up, until the changes since the last successful poll have arrived.
 */
@Injectable()
export class ApiKeyCache implements OnApplicationShutdown {
  private readonly logger = new Logger(ApiKeyCache.name);
  private readonly keys = new ExpiringMap<string, CachedKey>(CACHE_CAPACITY);
  private position: ChangesPosition | undefined;
  /** Incremented by each poll that returns changes: lookups that began earlier may have missed these. */
  private generation = 0;
  /** When the last successful poll began, by the monotonic clock. */
  private currentAsOf = -Infinity;
  /** By the monotonic clock. */
  private lastRequestedAt = -Infinity;
  private isPolling = false;
  private isStopped = false;
  private hasFailed = false;
  /** Runs outside the context of any request, so that it belongs to no trace and no transaction. */
  private readonly startPolling = AsyncResource.bind(() => void this.pollWhileUsed());

  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly clock: Clock,
    private readonly lastUsed: LastUsedTracker,
  ) {}

  onApplicationShutdown(): void {
    this.isStopped = true;
  }

  get(token: string): Principal | undefined {
    const now = this.clock.monotonic();
    this.lastRequestedAt = now;
    if (!this.isPolling && !this.isStopped) {
      this.startPolling();
    }
    if (now - this.currentAsOf >= MAX_STALENESS_MS) {
      return undefined;
    }
    const cached = this.keys.get(token, now);
    if (cached === undefined || isExpired(cached, this.clock.now())) {
      return undefined;
    }
    if (now - cached.useRecordedAt >= USE_RECORDING_INTERVAL_MS) {
      cached.useRecordedAt = now;
      this.lastUsed.record(cached.principal.keyId);
    }
    return cached.principal;
  }

  /**
   * Looks up keys in the database, and caches those that are valid, unless the lookup may have missed changes: because changes have
   * arrived since it began, or because it read a different database.
   * @returns the keys that exist, by token
   * @throws ServiceUnavailableError
   */
  async lookUp(tokens: readonly string[]): Promise<ReadonlyMap<string, FoundKey>> {
    const { generation } = this;
    const lookedUpAt = this.clock.monotonic();
    const hashes = tokens.map(hashSecret);
    const { keys, source } = await this.repository.findByHashes(hashes);
    const isCurrent = generation === this.generation && source === this.position?.source;
    const keysByHash = new Map(keys.map((each) => [each.key.hash.toString('latin1'), each]));
    const found = new Map<string, FoundKey>();
    tokens.forEach((token, index) => {
      const existing = keysByHash.get(hashes[index]?.toString('latin1') ?? '');
      const key = existing && toFoundKey(token, existing);
      if (key !== undefined) {
        found.set(token, key);
      }
      if (isCurrent) {
        this.store(token, key, lookedUpAt);
      }
    });
    return found;
  }

  private store(token: string, key: FoundKey | undefined, lookedUpAt: number): void {
    if (key?.principal === undefined || key.isRevoked || isExpired(key, this.clock.now())) {
      this.keys.delete(token);
      return;
    }
    const { principal, keyExpiresAt } = key;
    const expiresAt = lookedUpAt + CACHE_TTL_MS;
    const useRecordedAt = this.keys.get(token, lookedUpAt)?.useRecordedAt ?? lookedUpAt;
    this.keys.set(token, { principal, keyExpiresAt, expiresAt, useRecordedAt }, lookedUpAt);
  }

  private async pollWhileUsed(): Promise<void> {
    this.isPolling = true;
    do {
      const startedAt = this.clock.monotonic();
      try {
        this.applyChanges(await this.repository.findChangesSince(this.position));
        this.currentAsOf = startedAt;
        this.hasFailed = false;
      } catch (error) {
        // Database outages are reported elsewhere.
        if (!(error instanceof PetStoreError) && !this.hasFailed) {
          this.hasFailed = true;
          this.logger.error(error);
        }
      }
      const delayMs = startedAt + POLL_INTERVAL_MS - this.clock.monotonic();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, delayMs)).unref());
    } while (!this.isStopped && this.clock.monotonic() - this.lastRequestedAt < IDLE_TIMEOUT_MS);
    this.isPolling = false;
  }

  private applyChanges({ accountIds, position }: AccountChanges): void {
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

/** Whether the key has expired, also if its expiry cannot be read. */
export function isExpired({ keyExpiresAt }: Pick<FoundKey, 'keyExpiresAt'>, now: number): boolean {
  return !(keyExpiresAt > now);
}

function toFoundKey(token: string, { key, account }: KeyWithAccount): FoundKey {
  const { id: keyId, accountId, unbanCount } = key;
  const credential = { keyId, keyStart: getVisiblePart(token), accountId, unbanCount, scopes: parseScope(key.scope) };
  return {
    principal: createPrincipal(credential, account),
    isRevoked: key.revokedAt !== null,
    keyExpiresAt: key.expiresAt?.getTime() ?? Infinity,
  };
}
