import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings';
import { Clock } from '../shared/domain/clock';
import { ExpiringMap } from '../shared/domain/expiring-map';
import type { Principal } from '../shared/domain/principal';
import { hashSecret, isWellFormedSecret } from './api-key-secret';
import { allowanceOf } from './domain/account';
import { ApiKeyRepository } from './domain/api-key.repository';
import { AuthenticationError } from './domain/auth-errors';
import { KeyUses } from './key-uses';

/** How long a key that was found valid is not looked up again: revocation and plan changes must show within a second. */
const REMEMBER_MS = 1_000;
const REMEMBERED_KEYS = 100_000;

interface RememberedKey {
  readonly principal: Principal;
  readonly expiresAt: number;
}

/**
 * Tells who a bearer token belongs to. How long that takes tells nothing about a key: tokens are found by hashes over all of
 * their characters, in memory by one seeded for the process and in the database by SHA-256, never by comparing them character
 * by character with a key; so no step depends on how much of a key a wrong token has right.
 */
@Injectable()
export class Authenticator {
  private readonly valid = new ExpiringMap<string, RememberedKey>(REMEMBERED_KEYS);
  private readonly lookUps = new Map<string, Promise<Principal>>();

  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly uses: KeyUses,
  ) {}

  /** Who a token belongs to that was found valid within the last second: without a promise, a hash or a query. */
  remembered(token: string): Principal | undefined {
    return this.valid.get(token, this.clock.monotonic())?.principal;
  }

  /** @throws AuthenticationError; ServiceUnavailable */
  async authenticate(token: string): Promise<Principal> {
    if (!isWellFormedSecret(token, this.settings.environment)) {
      throw new AuthenticationError('invalid_api_key');
    }
    // Requests of one key that come together share one look-up.
    let lookUp = this.lookUps.get(token);
    if (lookUp === undefined) {
      lookUp = this.lookUp(token).finally(() => this.lookUps.delete(token));
      this.lookUps.set(token, lookUp);
    }
    return lookUp;
  }

  private async lookUp(token: string): Promise<Principal> {
    const askedAt = this.clock.monotonic();
    const found = await this.keys.findByHash(hashSecret(token));
    if (found?.key.revokedAt !== null) {
      throw new AuthenticationError('invalid_api_key');
    }
    const { key, account } = found;
    const leftMs = (key.expiresAt?.getTime() ?? Infinity) - this.clock.now();
    if (leftMs <= 0) {
      throw new AuthenticationError('expired_api_key');
    }
    this.uses.note(key.id);
    const principal = {
      keyId: key.id,
      keyFirstCharacters: key.firstCharacters,
      accountId: account.id,
      plan: account.plan,
      allowance: allowanceOf(account),
      unbanCount: key.unbans,
    };
    // Counted from before the look-up, so that what it read is never older than that.
    const expiresAt = Math.min(askedAt + REMEMBER_MS, this.clock.monotonic() + leftMs);
    this.valid.set(token, { principal, expiresAt }, askedAt);
    return principal;
  }
}
