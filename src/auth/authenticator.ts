import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings';
import { Batcher } from '../shared/domain/batcher';
import { Clock } from '../shared/domain/clock';
import { PetStoreError, UnknownValueError } from '../shared/domain/pet-store-error';
import type { Principal } from '../shared/domain/principal';
import { isWellFormedSecret } from './api-key-secret';
import { AuthenticationError } from './domain/auth-errors';
import { LastUsedTracker } from './last-used-tracker';
import { ApiKeyCache, type FoundKey, isExpired } from './api-key-cache';

/**
 * Finds the principal of a bearer token. Response times reveal nothing about keys: tokens are looked up by hashes of all their characters
 * (in memory by a hash seeded per process, in the database by SHA-256) and never compared with a key character by character. The time of
 * each step is therefore independent of how many characters of a wrong token are correct.
 */
@Injectable()
export class Authenticator {
  /** Tokens of an event-loop tick are looked up together. Later ones do not join: a lookup may miss changes made since it began. */
  private readonly lookups = new Batcher((tokens: readonly string[]) => this.lookUp(tokens), {
    isSplittable: (error) => !(error instanceof PetStoreError),
  });

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
    return this.requireValid(await this.lookups.add(token));
  }

  private async lookUp(tokens: readonly string[]): Promise<(FoundKey | undefined)[]> {
    const found = await this.cache.lookUp([...new Set(tokens)]);
    return tokens.map((token) => found.get(token));
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
