import type { Account, NewAccount } from './account';

export abstract class AccountRepository {
  abstract add(account: NewAccount): Promise<Account>;
  abstract find(id: bigint): Promise<Account | null>;
  /** All accounts by ascending id. */
  abstract list(): Promise<Account[]>;
}
