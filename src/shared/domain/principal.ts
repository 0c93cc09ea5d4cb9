import type { Allowance } from './allowance';

/** Who sends a request: a valid API key, the account it belongs to, and what that account may do. */
export interface Principal {
  readonly keyId: bigint;
  readonly accountId: bigint;
  readonly allowance: Allowance;
  /** How many times a ban of the key was lifted. */
  readonly unbans: number;
}
