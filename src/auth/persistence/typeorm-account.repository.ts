import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { getInsertedId } from '../../shared/persistence/columns';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { convertUnavailableError } from '../../shared/persistence/unavailable-error';
import { Account, type NewAccount } from '../domain/account';
import { AccountRepository } from '../domain/account.repository';

@Injectable()
export class TypeOrmAccountRepository extends AccountRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {
    super();
    unitOfWork.requireSchema(Account);
  }

  add(account: NewAccount): Promise<Account> {
    return convertUnavailableError(async () => {
      const id = getInsertedId(await this.accounts.insert(account));
      return { ...account, id, suspendedAt: null };
    });
  }

  find(id: bigint): Promise<Account | null> {
    return convertUnavailableError(() => this.accounts.findOneBy({ id }));
  }

  findForUpdate(id: bigint): Promise<Account | null> {
    return convertUnavailableError(() => this.accounts.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } }));
  }

  async save({ id, plan, perMinute, perDay, suspendedAt }: Account): Promise<void> {
    await convertUnavailableError(() => this.accounts.update({ id }, { plan, perMinute, perDay, suspendedAt }));
  }

  list(): Promise<Account[]> {
    return convertUnavailableError(() => this.accounts.find({ order: { id: 'ASC' } }));
  }

  private get accounts(): Repository<Account> {
    return this.unitOfWork.manager.getRepository(Account);
  }
}
