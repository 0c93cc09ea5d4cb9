import type { Account, NewAccount } from './account';

export abstract class AccountRepository {
  abstract add(account: NewAccount): Promise<Account>;
  abstract find(id: bigint): Promise<Account | null>;
  /** Finds an account and locks it until the end of the transaction. */
  abstract findForUpdate(id: bigint): Promise<Account | null>;
  /** Stores the account's plan, limits and suspension. */
  abstract save(account: Account): Promise<void>;
  /** Lists all accounts by ascending ID. */
  abstract list(): Promise<Account[]>;
}
