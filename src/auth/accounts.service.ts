import { Injectable } from '@nestjs/common';
import type { Allowance } from '../shared/domain/allowance';
import { Clock } from '../shared/domain/clock';
import { type Account, newAccount, type Plan } from './domain/account';
import { AccountRepository } from './domain/account.repository';

@Injectable()
export class AccountsService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws InvalidAccount */
  async create(name: string, plan: Plan, allowance: Partial<Allowance> = {}): Promise<Account> {
    return this.accounts.add(newAccount(name, plan, allowance, this.clock.now()));
  }

  list(): Promise<Account[]> {
    return this.accounts.list();
  }
}
