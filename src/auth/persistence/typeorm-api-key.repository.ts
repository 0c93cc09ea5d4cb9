import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { insertedId } from '../../shared/persistence/bigint-column';
import { Database } from '../../shared/persistence/database';
import { orUnavailable } from '../../shared/persistence/unavailable';
import { Account, type Plan } from '../domain/account';
import { ApiKey, type NewApiKey } from '../domain/api-key';
import { ApiKeyRepository, type KeyOfAccount, type KeyUse } from '../domain/api-key.repository';

/** Prepared, and apart from other reads: no request is served before its key is looked up. */
const FIND_BY_HASH = {
  name: 'api_keys_by_hash',
  table: 'api_keys',
  text: `
    SELECT key.id, account_id, first_characters, key.created_at, expires_at, revoked_at, replaced_by, last_used_at, unbans,
      account.name, plan, per_minute, per_day, account.created_at
    FROM api_keys AS key JOIN accounts AS account ON account.id = account_id WHERE hash = $1`,
};
type KeyColumns = [
  id: string,
  accountId: string,
  firstCharacters: string,
  createdAt: Date,
  expiresAt: Date | null,
  revokedAt: Date | null,
  replacedBy: string | null,
  lastUsedAt: Date | null,
  unbans: number,
];
const KEY_COLUMNS = 9;
type AccountColumns = [name: string, plan: Plan, perMinute: number | null, perDay: number | null, createdAt: Date];

@Injectable()
export class TypeOrmApiKeyRepository extends ApiKeyRepository {
  constructor(private readonly database: Database) {
    super();
  }

  add(key: NewApiKey): Promise<ApiKey> {
    return orUnavailable(async () => {
      const id = insertedId(await this.keys.insert(key));
      return new ApiKey(
        id,
        key.accountId,
        key.hash,
        key.firstCharacters,
        key.createdAt,
        key.expiresAt,
        null,
        null,
        null,
        0,
      );
    });
  }

  async findByHash(hash: Buffer): Promise<KeyOfAccount | null> {
    const [row] = (await this.database.read(FIND_BY_HASH, [hash])) as [...KeyColumns, ...AccountColumns][];
    if (row === undefined) {
      return null;
    }
    const [id, accountId, firstCharacters, createdAt, expiresAt, revokedAt, replacedBy, lastUsedAt, unbans] = row;
    const [name, plan, perMinute, perDay, accountCreatedAt] = row.slice(KEY_COLUMNS) as AccountColumns;
    const key = new ApiKey(
      BigInt(id),
      BigInt(accountId),
      hash,
      firstCharacters,
      createdAt,
      expiresAt,
      revokedAt,
      replacedBy === null ? null : BigInt(replacedBy),
      lastUsedAt,
      unbans,
    );
    return { key, account: new Account(key.accountId, name, plan, perMinute, perDay, accountCreatedAt) };
  }

  listOf(accountId: bigint): Promise<ApiKey[]> {
    return orUnavailable(() => this.keys.find({ where: { accountId }, order: { id: 'ASC' } }));
  }

  findForChange(id: bigint): Promise<ApiKey | null> {
    return orUnavailable(() => this.keys.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } }));
  }

  async save({ id, expiresAt, revokedAt, replacedBy, unbans }: ApiKey): Promise<void> {
    await orUnavailable(() => this.keys.update({ id }, { expiresAt, revokedAt, replacedBy, unbans }));
  }

  async noteUses(uses: readonly KeyUse[]): Promise<void> {
    await orUnavailable(() =>
      this.database.manager.query(
        `UPDATE api_keys SET last_used_at = use.at
         FROM (
           SELECT id, use.at FROM unnest($1::bigint[], $2::timestamptz[]) AS use (id, at) JOIN api_keys USING (id)
           WHERE last_used_at IS NULL OR last_used_at <= use.at - interval '1 minute'
           FOR NO KEY UPDATE OF api_keys SKIP LOCKED
         ) AS use
         WHERE api_keys.id = use.id`,
        [uses.map(({ keyId }) => `${keyId}`), uses.map(({ at }) => at)],
      ),
    );
  }

  private get keys(): Repository<ApiKey> {
    return this.database.manager.getRepository(ApiKey);
  }
}
