import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { PLAN_ALLOWANCES, PLANS } from '../../src/auth/domain/account';
import { type Allowance, WINDOWS } from '../../src/shared/domain/allowance';
import { TestService } from '../support/service';

const ROWS = PLANS.map((plan) => {
  const allowance: Partial<Allowance> = PLAN_ALLOWANCES[plan];
  const cells = WINDOWS.map(({ limit }) => allowance[limit]?.toLocaleString('en') ?? 'set on the account');
  return [`\`${plan}\``, ...cells];
});

describe('The plans', () => {
  it('match the table in docs/limits.md, with their limits', () => {
    const text = readFileSync(join(__dirname, '../../docs/limits.md'), 'utf8');
    const [, table = ''] = /^\| plan +\| requests per minute .*\n.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
    const rows = table
      .trim()
      .split('\n')
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(rows).toEqual(ROWS);
  });

  it('match the plans that the database accepts: src/auth/domain/account.ts and a migration list the same', async () => {
    const service = await TestService.start();
    const [check]: { definition: string }[] = await service.app
      .get(DataSource)
      .query(`SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname = 'accounts_plan_check'`);
    await service.close();
    expect([...(check?.definition.matchAll(/'(\w+)'/g) ?? [])].map(([, plan]) => plan)).toEqual([...PLANS]);
  });
});
