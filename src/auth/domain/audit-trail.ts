/** A change of an account or a key by an operator. Its details never contain a secret or its hash. */
export interface AuditedChange {
  readonly action:
    | 'account_created'
    | 'account_suspended'
    | 'account_resumed'
    | 'account_deletion_started'
    | 'account_deleted'
    | 'plan_set'
    | 'key_created'
    | 'key_rotated'
    | 'key_revoked'
    | 'key_scope_set'
    | 'key_unbanned';
  readonly accountId: bigint;
  readonly keyId: bigint | null;
  readonly details: Readonly<Record<string, string | number | bigint | null>>;
}

/** A recorded change: when it was made, and by whom. */
export interface AuditEntry extends Omit<AuditedChange, 'action'> {
  /** May be an action of a newer version, which this version does not know. */
  readonly action: string;
  readonly id: bigint;
  readonly at: Date;
  readonly operator: string;
}

/** The append-only record of the operators' changes. */
export abstract class AuditTrail {
  /** Records a change in the unit of work of the change. */
  abstract record(change: AuditedChange): Promise<void>;
  /** Reads the latest entries, newest last. */
  abstract listLatest(limit: number): Promise<AuditEntry[]>;
}
