import { EntitySchema } from 'typeorm';
import { identityColumn, integerColumn } from '../../shared/persistence/columns';
import { Account } from '../domain/account';

export const AccountSchema = new EntitySchema<Account>({
  name: 'Account',
  target: Account,
  tableName: 'accounts',
  columns: {
    id: identityColumn,
    name: { type: 'text' },
    plan: { type: 'text' },
    perMinute: { ...integerColumn, name: 'per_minute', nullable: true },
    perDay: { ...integerColumn, name: 'per_day', nullable: true },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    suspendedAt: { type: 'timestamptz', name: 'suspended_at', nullable: true },
  },
  checks: [
    { name: 'accounts_name_check', expression: 'char_length(name) BETWEEN 1 AND 100' },
    { name: 'accounts_plan_check', expression: `plan ~ '^[a-z0-9_-]+$'` },
    { name: 'accounts_per_minute_check', expression: 'per_minute >= 1' },
    { name: 'accounts_per_day_check', expression: 'per_day >= 1' },
    { name: 'accounts_check', expression: `(plan = 'enterprise') = (per_minute IS NOT NULL)` },
    { name: 'accounts_check1', expression: `(plan = 'enterprise') = (per_day IS NOT NULL)` },
  ],
});
