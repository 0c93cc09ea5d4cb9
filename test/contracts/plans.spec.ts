import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLAN_ALLOWANCES, PLANS } from '../../src/auth/domain/account';
import { type Allowance, WINDOWS } from '../../src/shared/domain/allowance';

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
});
