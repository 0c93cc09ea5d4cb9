import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { insertedId } from '../../shared/persistence/bigint-column';
import { Database } from '../../shared/persistence/database';
import { orUnavailable } from '../../shared/persistence/unavailable';
import { Account } from '../domain/account';
import { ApiKey, type NewApiKey } from '../domain/api-key';
import { ApiKeyRepository, type KeyOfAccount } from '../domain/api-key.repository';

@Injectable()
export class TypeOrmApiKeyRepository extends ApiKeyRepository {
  constructor(private readonly database: Database) {
    super();
  }

  add(key: NewApiKey): Promise<ApiKey> {
    return orUnavailable(async () => {
      const id = insertedId(await this.keys.insert(key));
      return new ApiKey(id, key.accountId, key.hash, key.firstCharacters, key.createdAt, key.expiresAt, null, null);
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

  async save({ id, expiresAt, revokedAt, replacedBy }: ApiKey): Promise<void> {
    await orUnavailable(() => this.keys.update({ id }, { expiresAt, revokedAt, replacedBy }));
  }

  private get keys(): Repository<ApiKey> {
    return this.database.manager.getRepository(ApiKey);
  }
}
