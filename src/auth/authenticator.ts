import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings';
import { Clock } from '../shared/domain/clock';
import { PetStoreError, UnknownValueError } from '../shared/domain/pet-store-error';
import type { Principal } from '../shared/domain/principal';
import { isWellFormedSecret } from './api-key-secret';
import { AuthenticationError } from './domain/auth-errors';
import { LastUsedTracker } from './last-used-tracker';
import { ApiKeyCache, type FoundKey, isExpired } from './api-key-cache';

interface PendingLookup {
  readonly resolve: (principal: Principal) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Finds the principal of a bearer token. Response times reveal nothing about keys: tokens are looked up by hashes of all their characters
 * (in memory by a hash seeded per process, in the database by SHA-256) and never compared with a key character by character. The time of
 * each step is therefore independent of how many characters of a wrong token are correct.
 */
@Injectable()
export class Authenticator {
  private pendingLookups = new Map<string, PendingLookup[]>();

  constructor(
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly lastUsed: LastUsedTracker,
    private readonly cache: ApiKeyCache,
  ) {}

  /** Returns the principal of a cached key without a promise, a hash or a query. */
  findCached(token: string): Principal | undefined {
    return this.cache.get(token);
  }

  /** @throws AuthenticationError; ServiceUnavailableError */
  async authenticate(token: string): Promise<Principal> {
    if (!isWellFormedSecret(token, this.settings.environment)) {
      throw new AuthenticationError('invalid_api_key');
    }
    return new Promise((resolve, reject) => {
      if (this.pendingLookups.size === 0) {
        setImmediate(() => {
          const { pendingLookups } = this;
          this.pendingLookups = new Map();
          void this.lookUp(pendingLookups);
        });
      }
      const lookups = this.pendingLookups.get(token);
      if (lookups === undefined) {
        this.pendingLookups.set(token, [{ resolve, reject }]);
      } else {
        lookups.push({ resolve, reject });
      }
    });
  }

  /**
   * Looks up all tokens of an event-loop tick together. Later tokens do not join: a lookup may miss changes made since it
   * began.
   */
  private async lookUp(lookups: ReadonlyMap<string, readonly PendingLookup[]>): Promise<void> {
    try {
      const found = await this.cache.lookUp([...lookups.keys()]);
      lookups.forEach((waiting, token) => {
        this.settle(waiting, found.get(token));
      });
    } catch (error) {
      if (lookups.size > 1 && !(error instanceof PetStoreError)) {
        // A token that causes an error must not fail the requests with others.
        await Promise.all([...lookups].map((lookup) => this.lookUp(new Map([lookup]))));
        return;
      }
      for (const { reject } of [...lookups.values()].flat()) {
        reject(error);
      }
    }
  }

  private settle(waiting: readonly PendingLookup[], key: FoundKey | undefined): void {
    try {
      const principal = this.requireValid(key);
      waiting.forEach(({ resolve }) => {
        resolve(principal);
      });
    } catch (error) {
      waiting.forEach(({ reject }) => {
        reject(error);
      });
    }
  }

  /** @throws AuthenticationError; UnknownValueError */
  private requireValid(key: FoundKey | undefined): Principal {
    if (key === undefined || key.isRevoked) {
      throw new AuthenticationError('invalid_api_key');
    }
    if (isExpired(key, this.clock.now())) {
      throw new AuthenticationError('expired_api_key');
    }
    if (key.principal === undefined) {
      throw new UnknownValueError();
    }
    this.lastUsed.record(key.principal.keyId);
    return key.principal;
  }
}
