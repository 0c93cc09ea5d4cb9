import { Injectable } from '@nestjs/common';
import { AccountRepository } from '../../src/auth/domain/account.repository';
import type { ApiKey, NewApiKey } from '../../src/auth/domain/api-key';
import { ApiKeyRepository, type KeyOfAccount, type KeyUse } from '../../src/auth/domain/api-key.repository';

/** Keeps the keys in memory; the accounts stay where they are. */
@Injectable()
export class MemoryApiKeyRepository extends ApiKeyRepository {
  private readonly keys = new Map<bigint, ApiKey>();

  constructor(private readonly accounts: AccountRepository) {
    super();
  }

  add(key: NewApiKey): Promise<ApiKey> {
    const id = BigInt(this.keys.size + 1);
    const added = { ...key, id, revokedAt: null, replacedBy: null, lastUsedAt: null, unbans: 0 };
    this.keys.set(id, added);
    return Promise.resolve(added);
  }

  async findByHash(hash: Buffer): Promise<KeyOfAccount | null> {
    const key = [...this.keys.values()].find((one) => one.hash.equals(hash));
    const account = key && (await this.accounts.find(key.accountId));
    return key && account ? { key, account } : null;
  }

  listOf(accountId: bigint): Promise<ApiKey[]> {
    return Promise.resolve([...this.keys.values()].filter((key) => key.accountId === accountId));
  }

  findForChange(id: bigint): Promise<ApiKey | null> {
    return Promise.resolve(this.keys.get(id) ?? null);
  }

  save(key: ApiKey): Promise<void> {
    this.keys.set(key.id, key);
    return Promise.resolve();
  }

  noteUses(uses: readonly KeyUse[]): Promise<void> {
    uses.forEach(({ keyId, at }) => {
      const key = this.keys.get(keyId);
      if (key !== undefined) {
        this.keys.set(keyId, { ...key, lastUsedAt: at });
      }
    });
    return Promise.resolve();
  }
}
