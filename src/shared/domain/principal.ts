import type { Allowance } from './allowance';

/** The authenticated caller: a valid API key, its account, and the account's limits. */
export interface Principal {
  readonly keyId: bigint;
  /** The prefix of the key and its first 4 random characters, by which people recognize it. */
  readonly keyStart: string;
  readonly accountId: bigint;
  readonly plan: string;
  /** Whether every request of the account is rejected. */
  readonly isSuspended: boolean;
  /** What the key grants. A scope that this version does not know grants nothing. */
  readonly scopes: readonly string[];
  readonly allowance: Allowance;
  /** How many times a ban of the key was lifted. */
  readonly unbanCount: number;
}
