import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/domain/clock';
import { UnknownValueError } from '../shared/domain/pet-store-error';
import type { Principal } from '../shared/domain/principal';
import { UnitOfWork } from '../shared/domain/unit-of-work';
import {
  type Account,
  type AccountLimits,
  AccountStateError,
  getAllowance,
  createAccount,
  type Plan,
  withPlan,
} from './domain/account';
import { AccountRepository } from './domain/account.repository';
import { AuditTrail } from './domain/audit-trail';
import { NotFoundError } from './domain/not-found-error';
import { createPrincipal } from './principal';

/** Creates, lists, suspends, resumes and deletes accounts, and sets their plans. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly audit: AuditTrail,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws InvalidAccountError */
  create(name: string, plan: Plan, allowance: Partial<AccountLimits> = {}): Promise<Account> {
    return this.unitOfWork.run(async () => {
      const account = await this.accounts.add(createAccount(name, plan, allowance, this.clock.now()));
      const details = { name, plan, ...getAllowance(account) };
      await this.audit.record({ action: 'account_created', accountId: account.id, keyId: null, details });
      return account;
    });
  }

  /** Takes effect on every replica within a second. @throws NotFoundError, InvalidAccountError */
  setPlan(id: bigint, plan: Plan, allowance: Partial<AccountLimits> = {}): Promise<Account> {
    return this.unitOfWork.run(async () => {
      const account = requireAccount(await this.accounts.findForUpdate(id), id);
      const changed = withPlan(account, plan, allowance);
      await this.accounts.save(changed);
      const old = getAllowance(account);
      const details = {
        ...{ oldPlan: account.plan, oldPerMinute: old?.perMinute ?? null, oldPerDay: old?.perDay ?? null },
        ...{ plan, ...getAllowance(changed) },
      };
      await this.audit.record({ action: 'plan_set', accountId: id, keyId: null, details });
      return changed;
    });
  }

  /** Rejects all keys of the account on every replica within a second, until `resume`. @throws NotFoundError */
  suspend(id: bigint): Promise<Account> {
    return this.setSuspended(id, new Date(this.clock.now()));
  }

  /** Accepts the keys of a suspended account again, on every replica within a second. @throws NotFoundError */
  resume(id: bigint): Promise<Account> {
    return this.setSuspended(id, null);
  }

  /** Counts the rows that `delete` would delete, by table. @throws NotFoundError, AccountStateError */
  async countRows(id: bigint): Promise<Record<string, number>> {
    requireSuspended(await this.get(id));
    return this.accounts.countRows(id);
  }

  /**
   * Deletes a suspended account and everything that belongs to it, but not its entries in the audit trail. If this is interrupted, it can
   * be repeated.
   * @returns how many rows of each table belonged to the account
   * @throws NotFoundError, AccountStateError
   */
  async delete(id: bigint): Promise<Record<string, number>> {
    const { name, plan } = requireSuspended(await this.get(id));
    const change = { accountId: id, keyId: null, details: { name, plan } };
    // Before anything is deleted, because the deletion may be interrupted.
    await this.audit.record({ ...change, action: 'account_deletion_started' });
    const rows = await this.accounts.deleteRows(id);
    await this.unitOfWork.run(async () => {
      requireSuspended(requireAccount(await this.accounts.findForUpdate(id), id));
      await this.accounts.delete(id);
      await this.audit.record({ ...change, action: 'account_deleted', details: { ...change.details, ...rows } });
    });
    return rows;
  }

  /** @throws NotFoundError */
  async get(id: bigint): Promise<Account> {
    return requireAccount(await this.accounts.find(id), id);
  }

  /**
   * Finds the caller that a credential other than an API key, such as a token of an identity provider, stands for.
   * @returns undefined if there is no such account @throws UnknownValueError if this version does not know its plan
   */
  async findPrincipal(id: bigint, scopes: readonly string[]): Promise<Principal | undefined> {
    const account = await this.accounts.find(id);
    if (account === null) {
      return undefined;
    }
    // Bans are per key. No API key has a negative ID, so all such credentials of the account share a ban.
    const principal = createPrincipal({ accountId: id, keyId: -id, keyStart: '', scopes, unbanCount: 0 }, account);
    if (principal === undefined) {
      throw new UnknownValueError();
    }
    return principal;
  }

  list(): Promise<Account[]> {
    return this.accounts.list();
  }

  private setSuspended(id: bigint, suspendedAt: Date | null): Promise<Account> {
    return this.unitOfWork.run(async () => {
      const account = requireAccount(await this.accounts.findForUpdate(id), id);
      if ((account.suspendedAt === null) === (suspendedAt === null)) {
        return account;
      }
      const changed = { ...account, suspendedAt };
      await this.accounts.save(changed);
      const action = suspendedAt === null ? 'account_resumed' : 'account_suspended';
      await this.audit.record({ action, accountId: id, keyId: null, details: {} });
      return changed;
    });
  }
}

function requireAccount(account: Account | null, id: bigint): Account {
  if (account === null) {
    throw new NotFoundError(`No account has the ID ${id}.`);
  }
  return account;
}

/** Only a suspended account gets no new rows while it is deleted. */
function requireSuspended(account: Account): Account {
  if (account.suspendedAt === null) {
    throw new AccountStateError(`Account ${account.id} is not suspended. Suspend it first.`);
  }
  return account;
}
