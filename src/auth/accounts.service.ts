import { Injectable } from '@nestjs/common';
import type { Allowance } from '../shared/domain/allowance';
import { Clock } from '../shared/domain/clock';
import { type Account, allowanceOf, newAccount, type Plan } from './domain/account';
import { AccountRepository } from './domain/account.repository';
import { AuditTrail } from './domain/audit-trail';
import { UnknownId } from './domain/unknown-id';

/** Creates and lists accounts. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @throws InvalidAccount */
  create(name: string, plan: Plan, allowance: Partial<Allowance> = {}): Promise<Account> {
    return this.audit.recording(async (record) => {
      const account = await this.accounts.add(newAccount(name, plan, allowance, this.clock.now()));
      const details = { name, plan, ...allowanceOf(account) };
      await record({ act: 'account_created', accountId: account.id, keyId: null, details });
      return account;
    });
  }

  /** @throws UnknownId */
  async get(id: bigint): Promise<Account> {
    const account = await this.accounts.find(id);
    if (account === null) {
      throw new UnknownId(`No account has the id ${id}.`);
    }
    return account;
  }

  list(): Promise<Account[]> {
    return this.accounts.list();
  }
}
