import { Injectable } from '@nestjs/common';
import { AccountRepository } from '../../src/auth/domain/account.repository';
import type { ApiKey, NewApiKey } from '../../src/auth/domain/api-key';
import {
  type AccountChanges,
  ApiKeyRepository,
  type KeyWithAccount,
  type KeyLookup,
  type LastUsedUpdate,
} from '../../src/auth/domain/api-key.repository';

/** Stores the keys in memory. The accounts remain in the database. */
@Injectable()
export class MemoryApiKeyRepository extends ApiKeyRepository {
  private readonly keys = new Map<bigint, ApiKey>();

  constructor(private readonly accounts: AccountRepository) {
    super();
  }

  add(key: NewApiKey): Promise<ApiKey> {
    const id = BigInt(this.keys.size + 1);
    const added = { ...key, id, revokedAt: null, replacedBy: null, lastUsedAt: null, unbanCount: 0 };
    this.keys.set(id, added);
    return Promise.resolve(added);
  }

  async findByHashes(hashes: readonly Buffer[]): Promise<KeyLookup> {
    const keys: KeyWithAccount[] = [];
    for (const key of this.keys.values()) {
      const account = hashes.some((hash) => hash.equals(key.hash)) ? await this.accounts.find(key.accountId) : null;
      if (account !== null) {
        keys.push({ key, account });
      }
    }
    return { keys, source: 'memory' };
  }

  findChangesSince(): Promise<AccountChanges> {
    // This repository does not record which accounts changed, so no key stays cached for long.
    return Promise.resolve({ accountIds: 'all', position: { source: 'memory', snapshot: '' } });
  }

  listByAccount(accountId: bigint): Promise<ApiKey[]> {
    return Promise.resolve([...this.keys.values()].filter((key) => key.accountId === accountId));
  }

  findForUpdate(id: bigint): Promise<ApiKey | null> {
    return Promise.resolve(this.keys.get(id) ?? null);
  }

  save(key: ApiKey): Promise<void> {
    this.keys.set(key.id, key);
    return Promise.resolve();
  }

  recordLastUsed(updates: readonly LastUsedUpdate[]): Promise<void> {
    updates.forEach(({ keyId, at }) => {
      const key = this.keys.get(keyId);
      if (key !== undefined) {
        this.keys.set(keyId, { ...key, lastUsedAt: at });
      }
    });
    return Promise.resolve();
  }
}
