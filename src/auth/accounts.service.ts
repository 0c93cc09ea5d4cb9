import { Injectable } from '@nestjs/common';
import type { Allowance } from '../shared/domain/allowance';
import { Clock } from '../shared/domain/clock';
import { type Account, allowanceOf, newAccount, type Plan, withPlan } from './domain/account';
import { AccountRepository } from './domain/account.repository';
import { AuditTrail } from './domain/audit-trail';
import { UnknownId } from './domain/unknown-id';

/** Creates accounts, sets their plans, and lists them. */
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

  /** In force on every replica within a second. @throws UnknownId, InvalidAccount */
  setPlan(id: bigint, plan: Plan, allowance: Partial<Allowance> = {}): Promise<Account> {
    return this.audit.recording(async (record) => {
      const account = known(await this.accounts.findForChange(id), id);
      const changed = withPlan(account, plan, allowance);
      await this.accounts.save(changed);
      const old = allowanceOf(account);
      const details = {
        ...{ oldPlan: account.plan, oldPerMinute: old.perMinute, oldPerDay: old.perDay },
        ...{ plan, ...allowanceOf(changed) },
      };
      await record({ act: 'plan_set', accountId: id, keyId: null, details });
      return changed;
    });
  }

  /** @throws UnknownId */
  async get(id: bigint): Promise<Account> {
    return known(await this.accounts.find(id), id);
  }

  list(): Promise<Account[]> {
    return this.accounts.list();
  }
}

function known(account: Account | null, id: bigint): Account {
  if (account === null) {
    throw new UnknownId(`No account has the id ${id}.`);
  }
  return account;
}
