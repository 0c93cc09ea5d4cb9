/** An act on an account or on one of its keys, and what matters of it: never a secret, nor the hash of one. */
export interface Act {
  readonly act:
    'account_created' | 'plan_set' | 'key_created' | 'key_rotated' | 'key_revoked' | 'key_scope_set' | 'key_unbanned';
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly details: Readonly<Record<string, string | number | bigint | null>>;
}

/** An act as it was recorded: when, and by whom. */
export interface AuditEntry extends Act {
  readonly id: bigint;
  readonly at: Date;
  readonly operator: string;
}

/** The record of what operators did, to which entries are only ever added. */
export abstract class AuditTrail {
  /** Records an act, in the unit of work of what was done. */
  abstract record(act: Act): Promise<void>;
  /** The latest entries, the newest last. */
  abstract latest(limit: number): Promise<AuditEntry[]>;
}
