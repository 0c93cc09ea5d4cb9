import { Injectable } from '@nestjs/common';
import { MoreThan, type Repository } from 'typeorm';
import { getInsertedId } from '../../shared/persistence/columns';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { Account, type NewAccount } from '../domain/account';
import { AccountRepository } from '../domain/account.repository';

/** Finds the tables with a reference to accounts. One that also references another of them comes first. */
const FIND_TABLES = `
  WITH RECURSIVE path AS (
    SELECT 'accounts'::regclass::oid AS id, 0 AS length
    UNION SELECT conrelid, length + 1 FROM path JOIN pg_constraint ON confrelid = id
    WHERE contype = 'f' AND conrelid <> confrelid AND length < 20
  )
  SELECT conrelid::regclass::text AS name, quote_ident(attname) AS column
  FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
  WHERE contype = 'f' AND confrelid = 'accounts'::regclass AND conparentid = 0
  ORDER BY (SELECT max(length) FROM path WHERE id = conrelid) DESC, conrelid DESC`;

interface AccountTable {
  readonly name: string;
  readonly column: string;
}

/** The maximum numbers of rows that one statement deletes or lists, so that it stays within its timeout. */
const MAX_DELETED = 5_000;
const MAX_LISTED = 10_000;

@Injectable()
export class TypeOrmAccountRepository extends AccountRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {
    super();
    unitOfWork.requireSchema(Account);
  }

  async add(account: NewAccount): Promise<Account> {
    const id = getInsertedId(await this.accounts.insert(account));
    return { ...account, id, suspendedAt: null };
  }

  find(id: bigint): Promise<Account | null> {
    return this.accounts.findOneBy({ id });
  }

  findForUpdate(id: bigint): Promise<Account | null> {
    return this.accounts.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
  }

  async save({ id, plan, perMinute, perDay, suspendedAt }: Account): Promise<void> {
    await this.accounts.update({ id }, { plan, perMinute, perDay, suspendedAt });
  }

  countRows(id: bigint): Promise<Record<string, number>> {
    return this.forEachTable(async ({ name, column }) => {
      const [row] = await this.unitOfWork.manager.query<{ readonly count: number }[]>(
        `SELECT count(*)::int AS count FROM ${name} WHERE ${column} = $1`,
        [id],
      );
      return row?.count ?? 0;
    });
  }

  deleteRows(id: bigint): Promise<Record<string, number>> {
    return this.forEachTable(async ({ name, column }) => {
      const sql = `
        DELETE FROM ${name} WHERE ${column} = $1
        AND ctid = ANY (ARRAY(SELECT ctid FROM ${name} WHERE ${column} = $1 LIMIT ${MAX_DELETED}))`;
      for (let total = 0; ;) {
        const [, deleted] = await this.unitOfWork.runAlone((manager) =>
          manager.query<[rows: unknown, count: number]>(sql, [id]),
        );
        total += deleted;
        if (deleted < MAX_DELETED) {
          return total;
        }
      }
    });
  }

  async delete(id: bigint): Promise<void> {
    await this.accounts.delete({ id });
  }

  async list(): Promise<Account[]> {
    const accounts: Account[] = [];
    for (;;) {
      const id = MoreThan(accounts.at(-1)?.id ?? 0n);
      const next = await this.accounts.find({ where: { id }, order: { id: 'ASC' }, take: MAX_LISTED });
      accounts.push(...next);
      if (next.length < MAX_LISTED) {
        return accounts;
      }
    }
  }

  /** Calls `count` for each table whose rows belong to accounts, those of added modules included. */
  private async forEachTable(count: (table: AccountTable) => Promise<number>): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of await this.unitOfWork.manager.query<AccountTable[]>(FIND_TABLES)) {
      counts[table.name] = await count(table);
    }
    return counts;
  }

  private get accounts(): Repository<Account> {
    return this.unitOfWork.manager.getRepository(Account);
  }
}
