import type { Account } from './account';
import type { ApiKey, NewApiKey } from './api-key';

export interface KeyOfAccount {
  readonly key: ApiKey;
  readonly account: Account;
}

export abstract class ApiKeyRepository {
  abstract add(key: NewApiKey): Promise<ApiKey>;
  /** The key with this SHA-256 and its account, in one query. */
  abstract findByHash(hash: Buffer): Promise<KeyOfAccount | null>;
  /** All keys of an account by ascending id. */
  abstract listOf(accountId: bigint): Promise<ApiKey[]>;
  /** The key, which nobody else changes until the transaction ends. */
  abstract findForChange(id: bigint): Promise<ApiKey | null>;
  /** Stores when the key ends, and what takes its place. */
  abstract save(key: ApiKey): Promise<void>;
}
