import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { insertedId } from '../../shared/persistence/bigint-column';
import { Database } from '../../shared/persistence/database';
import { orUnavailable } from '../../shared/persistence/unavailable';
import { Account } from '../domain/account';
import { ApiKey, type NewApiKey } from '../domain/api-key';
import { ApiKeyRepository, type KeyOfAccount, type KeyUse } from '../domain/api-key.repository';

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

  findByHash(hash: Buffer): Promise<KeyOfAccount | null> {
    return orUnavailable(async () => {
      const found = await this.keys
        .createQueryBuilder('key')
        .innerJoinAndMapOne('key.account', Account, 'account', 'account.id = key.account_id')
        .where('key.hash = :hash', { hash })
        .getOne();
      return found === null ? null : { key: found, account: (found as ApiKey & { account: Account }).account };
    });
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
