import type { Allowance } from './allowance';

/** The scopes of API keys. Each includes the ones before it. */
export const SCOPES = ['read', 'write'] as const;

export type Scope = (typeof SCOPES)[number];

/** The authenticated caller: a valid API key, its account, and the account's limits. */
export interface Principal {
  readonly keyId: bigint;
  /** The first characters of the key's secret, which identify the key to people. */
  readonly keyFirstCharacters: string;
  readonly accountId: bigint;
  readonly plan: string;
  readonly scope: Scope;
  readonly allowance: Allowance;
  /** How many times a ban of the key was lifted. */
  readonly unbanCount: number;
}
