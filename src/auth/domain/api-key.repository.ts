import type { Account } from './account';
import type { ApiKey, NewApiKey } from './api-key';

export interface KeyOfAccount {
  readonly key: ApiKey;
  readonly account: Account;
}

export interface KeyUse {
  readonly keyId: bigint;
  readonly at: Date;
}

export abstract class ApiKeyRepository {
  abstract add(key: NewApiKey): Promise<ApiKey>;
  /** The key with this SHA-256 and its account, in one query. */
  abstract findByHash(hash: Buffer): Promise<KeyOfAccount | null>;
  /** Stores when keys were last used, each at most once a minute. A key that is being changed is left out, not waited for. */
  abstract noteUses(uses: readonly KeyUse[]): Promise<void>;
  /** All keys of an account by ascending id. */
  abstract listOf(accountId: bigint): Promise<ApiKey[]>;
  /** The key, which nobody else changes until the transaction ends. */
  abstract findForChange(id: bigint): Promise<ApiKey | null>;
  /** Stores when the key ends, what takes its place, and how often its ban was lifted. */
  abstract save(key: ApiKey): Promise<void>;
}
