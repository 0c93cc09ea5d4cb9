import type { Allowance } from './allowance';

/** Who sends a request: a valid API key, the account it belongs to, and what that account may do. */
export interface Principal {
  readonly keyId: bigint;
  /** The first characters of the key's secret, by which people recognise it. */
  readonly keyFirstCharacters: string;
  readonly accountId: bigint;
  readonly plan: string;
  readonly allowance: Allowance;
  /** How many times a ban of the key was lifted. */
  readonly unbanCount: number;
}
