import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/domain/clock';
import { parseJson, stringifyJson } from '../../shared/json/json';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { type AuditedChange, type AuditEntry, AuditTrail } from '../domain/audit-trail';
import { getOperatingSystemUser } from '../operating-system-user';

interface Row {
  readonly id: string;
  readonly at: Date;
  readonly operator: string;
  readonly action: string;
  readonly accountId: string;
  readonly keyId: string | null;
  readonly details: string;
}

/** Stores the trail in an append-only table. Uses SQL, because a TypeORM entity could be saved again. */
@Injectable()
export class PostgresAuditTrail extends AuditTrail {
  private readonly operator = getOperatingSystemUser();

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly clock: Clock,
  ) {
    super();
  }

  async record({ action, accountId, keyId, details }: AuditedChange): Promise<void> {
    await this.unitOfWork.manager.query(
      `INSERT INTO audit_entries (at, operator, action, account_id, key_id, details) VALUES ($1, $2, $3, $4, $5, $6)`,
      [new Date(this.clock.now()), this.operator, action, accountId, keyId, stringifyJson(details)],
    );
  }

  async listLatest(limit: number): Promise<AuditEntry[]> {
    const rows: Row[] = await this.unitOfWork.manager.query(
      `SELECT id, at, operator, action, account_id AS "accountId", key_id AS "keyId", details::text
       FROM audit_entries ORDER BY id DESC LIMIT $1`,
      [limit],
    );
    return rows.reverse().map(({ id, accountId, keyId, details, ...row }) => ({
      ...row,
      id: BigInt(id),
      accountId: BigInt(accountId),
      keyId: keyId === null ? null : BigInt(keyId),
      details: parseJson(details) as AuditedChange['details'],
    }));
  }
}
