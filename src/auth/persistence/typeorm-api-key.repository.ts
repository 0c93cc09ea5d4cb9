import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { ServiceUnavailableError } from '../../shared/domain/pet-store-error';
import { getInsertedId } from '../../shared/persistence/columns';
import { Statements } from '../../shared/persistence/statements';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { ApiKey, type NewApiKey } from '../domain/api-key';
import {
  type AccountChanges,
  ApiKeyRepository,
  type ChangesPosition,
  type KeyWithAccount,
  type KeyLookup,
  type LastUsedUpdate,
} from '../domain/api-key.repository';

/**
 * Identifies the running server and the database. It changes with a restart, a failover, a restored backup, and a recovery from a crash, which
 * discards the statistics: PostgreSQL then assigns transaction IDs again.
 */
const SOURCE_SQL = `(
  SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()),
    extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()), 'auth_changes'::regclass::oid))`;

/**
 * Urgent, because requests with an uncached key wait for this lookup. Returns times as ms since the epoch: their text depends on settings
 * of the session, and a key whose revocation cannot be read would be valid. `pg` would return integers as text if their column became bigint.
 */
const FIND_BY_HASHES = {
  name: 'api_keys_by_hashes',
  isUrgent: true,
  columns: [
    ...['id', 'account_id', 'hash', 'scope', 'expires_at', 'revoked_at', 'unbans'],
    ...['plan', 'per_minute', 'per_day', 'suspended_at', 'source'],
  ],
  text: `
    SELECT
      key.id, account_id, hash, scope,
      extract(epoch FROM expires_at) * 1000 AS expires_at, extract(epoch FROM revoked_at) * 1000 AS revoked_at,
      unbans::integer, plan, per_minute::integer, per_day::integer,
      extract(epoch FROM suspended_at) * 1000 AS suspended_at, ${SOURCE_SQL} AS source
    FROM api_keys AS key JOIN accounts AS account ON account.id = account_id WHERE hash = ANY ($1::bytea[])`,
} as const;
type KeyRow = [
  id: string,
  accountId: string,
  hash: Buffer,
  scope: string,
  expiresAt: string | null,
  revokedAt: string | null,
  unbanCount: number,
  plan: string,
  perMinute: number | null,
  perDay: number | null,
  suspendedAt: string | null,
  source: string,
];

/** With more changes than this, all accounts count as changed. */
const MAX_CHANGES = 1_000;
/**
 * Reads the changes that the current snapshot sees and an earlier one did not. This is exact for any order of commits and takes no
 * lock. A restored dump contains transaction IDs of another server, which may be higher than those of this server; the upper bound
 * excludes them.
 */
export const FIND_CHANGES_SINCE = {
  name: 'auth_changes_since',
  isUrgent: true,
  columns: ['source', 'snapshot', 'is_in_recovery', 'account_ids'],
  text: `
    SELECT ${SOURCE_SQL} AS source, pg_current_snapshot()::text AS snapshot, pg_is_in_recovery() AS is_in_recovery, ARRAY(
      SELECT account_id FROM auth_changes
      WHERE transaction_id >= pg_snapshot_xmin($1::pg_snapshot)
        AND transaction_id < pg_snapshot_xmax(pg_current_snapshot())
        AND NOT pg_visible_in_snapshot(transaction_id, $1::pg_snapshot)
      LIMIT ${MAX_CHANGES + 1}
    ) AS account_ids`,
} as const;
type ChangesRow = [source: string, snapshot: string, isInRecovery: boolean, accountIds: (string | null)[]];

@Injectable()
export class TypeOrmApiKeyRepository extends ApiKeyRepository {
  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly statements: Statements,
  ) {
    super();
    unitOfWork.requireSchema(ApiKey);
  }

  async add(key: NewApiKey): Promise<ApiKey> {
    const id = getInsertedId(await this.keys.insert(key));
    return { ...key, id, revokedAt: null, replacedBy: null, lastUsedAt: null, unbanCount: 0 };
  }

  async findByHashes(hashes: readonly Buffer[]): Promise<KeyLookup> {
    const rows = (await this.statements.read(FIND_BY_HASHES, [hashes])) as KeyRow[];
    const keys = rows.map((row): KeyWithAccount => {
      const [id, accountId, hash, scope, expiresAt, revokedAt, unbanCount, ...account] = row;
      const [plan, perMinute, perDay, suspendedAt] = account;
      const key = {
        id: BigInt(id),
        accountId: BigInt(accountId),
        hash,
        scope,
        expiresAt: expiresAt === 'Infinity' ? null : toDate(expiresAt),
        revokedAt: toDate(revokedAt),
        unbanCount,
      };
      return { key, account: { plan, perMinute, perDay, suspendedAt: toDate(suspendedAt) } };
    });
    return { keys, source: rows[0]?.[11] ?? '' };
  }

  async findChangesSince(position: ChangesPosition | undefined): Promise<AccountChanges> {
    const [row] = (await this.statements.read(FIND_CHANGES_SINCE, [position?.snapshot ?? null])) as ChangesRow[];
    if (row === undefined || row[2]) {
      throw new ServiceUnavailableError(new Error('The database is a standby'));
    }
    const [source, snapshot, , accountIds] = row;
    const isKnown = source === position?.source && accountIds.length <= MAX_CHANGES && !accountIds.includes(null);
    return {
      accountIds: isKnown ? new Set(accountIds.map((id) => BigInt(id ?? 0))) : 'all',
      position: { source, snapshot },
    };
  }

  listByAccount(accountId: bigint): Promise<ApiKey[]> {
    return this.keys.find({ where: { accountId }, order: { id: 'ASC' } });
  }

  findForUpdate(id: bigint): Promise<ApiKey | null> {
    return this.keys.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
  }

  async save({ id, scope, expiresAt, revokedAt, replacedBy, unbanCount }: ApiKey): Promise<void> {
    await this.keys.update({ id }, { scope, expiresAt, revokedAt, replacedBy, unbanCount });
  }

  async recordLastUsed(updates: readonly LastUsedUpdate[]): Promise<void> {
    await this.unitOfWork.runAlone((manager) =>
      manager.query(
        `UPDATE api_keys SET last_used_at = use.at
         FROM (
           SELECT id, use.at FROM unnest($1::bigint[], $2::timestamptz[]) AS use (id, at) JOIN api_keys USING (id)
           WHERE last_used_at IS NULL OR last_used_at <= use.at - interval '1 minute'
           FOR NO KEY UPDATE OF api_keys SKIP LOCKED
         ) AS use
         WHERE api_keys.id = use.id`,
        [updates.map(({ keyId }) => `${keyId}`), updates.map(({ at }) => at)],
      ),
    );
  }

  private get keys(): Repository<ApiKey> {
    return this.unitOfWork.manager.getRepository(ApiKey);
  }
}

/** @param time in ms since the epoch; for what is no time of a Date, the result is an invalid Date */
function toDate(time: string | null): Date | null {
  return time === null ? null : new Date(Math.floor(Number(time)));
}
