import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { redactSecrets } from '../../auth';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { IdempotencyKeyError } from '../domain/idempotency-errors';
import {
  IdempotencyRecords,
  type IdempotentRequest,
  type ResponseHeaders,
  type StoredResponse,
} from '../domain/idempotency-records';

/** By PostgreSQL's clock, which all replicas share. */
const IS_EXPIRED = `created_at <= now() - interval '24 hours'`;
/** The key of the advisory lock for deleting expired records: any number, the same on every replica. */
export const REMOVAL_LOCK_KEY = 7_383_783;

interface RecordRow {
  readonly isSame: boolean;
  readonly body: string;
  /** All that older replicas store and replay of the headers. */
  readonly location: string | null;
  readonly status: number | null;
  readonly headers: ResponseHeaders | null;
}

function createLocationHeader(location: string | null): ResponseHeaders {
  return location === null ? {} : { location };
}

/** Stores the records in the same database as the resources. Uses SQL, because the adapter depends on locks and conflicts. */
@Injectable()
export class PostgresIdempotencyRecords extends IdempotencyRecords {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {
    super();
  }

  executeOnce(
    { accountId, key, fingerprint }: IdempotentRequest,
    execute: () => Promise<StoredResponse>,
  ): Promise<{ response: StoredResponse; isReplay: boolean }> {
    // If an API key is sent as Idempotency-Key by mistake, it must not be in the database or its backups.
    const id = [`${accountId}`, redactSecrets(key) === key ? key : hash('sha256', key)];
    return this.unitOfWork.run(async () => {
      const { manager } = this.unitOfWork;
      // Waits for a concurrent transaction with the same key.
      const claimed: unknown[] = await manager.query(
        `INSERT INTO idempotency_records AS record (account_id, key, fingerprint) VALUES ($1, $2, $3)
         ON CONFLICT (account_id, key)
         DO UPDATE SET fingerprint = excluded.fingerprint, created_at = excluded.created_at WHERE record.${IS_EXPIRED}
         RETURNING 1`,
        [...id, fingerprint],
      );
      if (claimed.length === 0) {
        const [record]: RecordRow[] = await manager.query(
          `SELECT fingerprint = $3 AS "isSame", body, location, status, headers FROM idempotency_records
           WHERE account_id = $1 AND key = $2`,
          [...id, fingerprint],
        );
        if (record?.isSame !== true) {
          throw new IdempotencyKeyError('idempotency_key_reused');
        }
        const { body, status, headers, location } = record;
        return { response: { body, status, headers: headers ?? createLocationHeader(location) }, isReplay: true };
      }
      const response = await execute();
      await manager.query(
        `UPDATE idempotency_records SET body = $3, location = $4, status = $5, headers = $6
         WHERE account_id = $1 AND key = $2`,
        [...id, response.body, response.headers.location, response.status, JSON.stringify(response.headers)],
      );
      return { response, isReplay: false };
    }, accountId);
  }

  removeExpired(batchSize: number): Promise<number> {
    return this.unitOfWork.runAlone(async (manager) => {
      const [, removedCount]: [unknown, number] = await manager.query(
        `WITH lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock($1) AS is_held)
         DELETE FROM idempotency_records WHERE (account_id, key) IN (
           SELECT account_id, key FROM idempotency_records
           WHERE (SELECT is_held FROM lock) AND ${IS_EXPIRED}
           ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
         )`,
        [REMOVAL_LOCK_KEY, batchSize],
      );
      return removedCount;
    });
  }
}
