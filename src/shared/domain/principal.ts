import type { Allowance } from './allowance';

/** The scopes of API keys. Each includes the ones before it. */
export const SCOPES = ['read', 'write'] as const;

export type Scope = (typeof SCOPES)[number];

/** The authenticated caller: a valid API key, its account, and the account's limits. */
export interface Principal {
  readonly keyId: bigint;
  /** The first 4 random characters of the key, after its prefix, by which people recognize it. */
  readonly keyFirstCharacters: string;
  readonly accountId: bigint;
  readonly plan: string;
  /** undefined if this version does not know the scope of the key, which then grants nothing. */
  readonly scope: Scope | undefined;
  readonly allowance: Allowance;
  /** How many times a ban of the key was lifted. */
  readonly unbanCount: number;
}
