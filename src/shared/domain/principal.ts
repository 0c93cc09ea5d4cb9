import type { Allowance } from './allowance';

/** What an API key may do: each scope includes those before it. */
export const SCOPES = ['read', 'write'] as const;

export type Scope = (typeof SCOPES)[number];

/** Who sends a request: a valid API key, the account it belongs to, and what that account may do. */
export interface Principal {
  readonly keyId: bigint;
  /** The first characters of the key's secret, by which people recognise it. */
  readonly keyFirstCharacters: string;
  readonly accountId: bigint;
  readonly plan: string;
  readonly scope: Scope;
  readonly allowance: Allowance;
  /** How many times a ban of the key was lifted. */
  readonly unbanCount: number;
}
