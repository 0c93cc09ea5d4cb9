import type { Account } from './account';
import type { ApiKey, NewApiKey } from './api-key';

/** What decides about a request with the key. */
export interface KeyOfAccount {
  readonly key: Pick<
    ApiKey,
    'id' | 'accountId' | 'hash' | 'firstCharacters' | 'scope' | 'expiresAt' | 'revokedAt' | 'unbanCount'
  >;
  readonly account: Pick<Account, 'plan' | 'perMinute' | 'perDay'>;
}

/** The keys that a look-up found, and the database that it read, see ChangesPosition. */
export interface KeysFound {
  readonly keys: readonly KeyOfAccount[];
  readonly source: string;
}

/** Up to where a replica knows the changes of accounts and keys. Only the repository reads it, save for the source. */
export interface ChangesPosition {
  /** Names the database: another one, such as after a failover, may lack changes that this one had. */
  readonly source: string;
  readonly snapshot: string;
}

/** The accounts that were changed, themselves or by one of their keys. */
export interface AccountChanges {
  readonly accountIds: ReadonlySet<bigint> | 'all';
  readonly position: ChangesPosition;
}

export interface KeyUse {
  readonly keyId: bigint;
  readonly at: Date;
}

export abstract class ApiKeyRepository {
  abstract add(key: NewApiKey): Promise<ApiKey>;
  /** The keys with these SHA-256 and their accounts, in one query. */
  abstract findByHashes(hashes: readonly Buffer[]): Promise<KeysFound>;
  /**
   * The changes that are visible now, save those that were visible at the position. New accounts and keys, and the last use of
   * a key, are no changes. Without a position, or where the changes since are not known, all accounts count as changed.
   */
  abstract changesSince(position: ChangesPosition | undefined): Promise<AccountChanges>;
  /** Stores when keys were last used, each at most once a minute. A key that is being changed is left out, not waited for. */
  abstract recordLastUsed(uses: readonly KeyUse[]): Promise<void>;
  /** All keys of an account by ascending id. */
  abstract listOf(accountId: bigint): Promise<ApiKey[]>;
  /** The key, which nobody else changes until the transaction ends. */
  abstract findForChange(id: bigint): Promise<ApiKey | null>;
  /** Stores when the key ends, what takes its place, its scope, and how often its ban was lifted. */
  abstract save(key: ApiKey): Promise<void>;
}
