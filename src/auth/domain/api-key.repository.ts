import type { Account } from './account';
import type { ApiKey, NewApiKey } from './api-key';

/** Everything that authentication needs to know about a key. */
export interface KeyWithAccount {
  readonly key: Pick<ApiKey, 'id' | 'accountId' | 'hash' | 'scope' | 'expiresAt' | 'revokedAt' | 'unbanCount'>;
  readonly account: Pick<Account, 'plan' | 'perMinute' | 'perDay' | 'suspendedAt'>;
}

/** The keys that a lookup found, and the database it read (see ChangesPosition). */
export interface KeyLookup {
  readonly keys: readonly KeyWithAccount[];
  readonly source: string;
}

/** The position up to which a replica has seen the changes of accounts and keys. Opaque outside the repository, except for the source. */
export interface ChangesPosition {
  /** Identifies the database: a different one, for example after a failover, may lack changes. */
  readonly source: string;
  readonly snapshot: string;
}

/** The accounts that changed, or whose keys changed. */
export interface AccountChanges {
  readonly accountIds: ReadonlySet<bigint> | 'all';
  readonly position: ChangesPosition;
}

export interface LastUsedUpdate {
  readonly keyId: bigint;
  readonly at: Date;
}

export abstract class ApiKeyRepository {
  abstract add(key: NewApiKey): Promise<ApiKey>;
  /** Finds the keys with these SHA-256 hashes, and their accounts, in one query. */
  abstract findByHashes(hashes: readonly Buffer[]): Promise<KeyLookup>;
  /**
   * Reads the changes that were committed after the position, except for new accounts and keys and the last use of a key. Without a
   * position, or if the changes are unknown, all accounts count as changed.
   */
  abstract findChangesSince(position: ChangesPosition | undefined): Promise<AccountChanges>;
  /** Stores when keys were last used, each at most once a minute. Keys locked by another change are skipped. */
  abstract recordLastUsed(updates: readonly LastUsedUpdate[]): Promise<void>;
  /** Lists all keys of an account by ascending ID. */
  abstract listByAccount(accountId: bigint): Promise<ApiKey[]>;
  /** Finds a key and locks it until the end of the transaction. */
  abstract findForUpdate(id: bigint): Promise<ApiKey | null>;
  /** Stores the key's expiry, revocation, replacement, scope and unban count. */
  abstract save(key: ApiKey): Promise<void>;
}
