import type { Account, NewAccount } from './account';

export abstract class AccountRepository {
  abstract add(account: NewAccount): Promise<Account>;
  abstract find(id: bigint): Promise<Account | null>;
  /** Finds an account and locks it until the end of the transaction. */
  abstract findForUpdate(id: bigint): Promise<Account | null>;
  /** Stores the account's plan, limits and suspension. */
  abstract save(account: Account): Promise<void>;
  /** Counts the rows that belong to an account, such as its keys, by table. */
  abstract countRows(id: bigint): Promise<Record<string, number>>;
  /** Deletes the rows that belong to an account, in small steps, and returns how many, by table. The account itself stays. */
  abstract deleteRows(id: bigint): Promise<Record<string, number>>;
  abstract delete(id: bigint): Promise<void>;
  /** Lists all accounts by ascending ID. */
  abstract list(): Promise<Account[]>;
}
