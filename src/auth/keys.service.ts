import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings';
import { Clock } from '../shared/domain/clock';
import { firstCharacters, generateSecret, hashSecret } from './api-key-secret';
import { AccountRepository } from './domain/account.repository';
import type { ApiKey } from './domain/api-key';
import { ApiKeyRepository } from './domain/api-key.repository';

/** No account, or no key, has the id. */
export class UnknownId extends Error {}

export interface IssuedKey {
  readonly key: ApiKey;
  /** The key itself, which nobody can be shown again. */
  readonly secret: string;
}

/** Issues, lists and revokes API keys. */
@Injectable()
export class KeysService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** @throws UnknownId */
  async create(accountId: bigint, expiresAt: Date | null = null): Promise<IssuedKey> {
    await this.requireAccount(accountId);
    const secret = generateSecret(this.settings.environment);
    const key = await this.keys.add({
      accountId,
      hash: hashSecret(secret),
      firstCharacters: firstCharacters(secret),
      createdAt: new Date(this.clock.now()),
      expiresAt,
    });
    return { key, secret };
  }

  /** @throws UnknownId */
  async list(accountId: bigint): Promise<ApiKey[]> {
    await this.requireAccount(accountId);
    return this.keys.listOf(accountId);
  }

  /** In force on every replica within a second. @throws UnknownId */
  async revoke(keyId: bigint): Promise<ApiKey> {
    const key = await this.keys.revoke(keyId, new Date(this.clock.now()));
    if (key === null) {
      throw new UnknownId(`No key has the id ${keyId}.`);
    }
    return key;
  }

  private async requireAccount(accountId: bigint): Promise<void> {
    if ((await this.accounts.find(accountId)) === null) {
      throw new UnknownId(`No account has the id ${accountId}.`);
    }
  }
}
