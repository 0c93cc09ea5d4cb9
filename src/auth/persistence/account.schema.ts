import { EntitySchema } from 'typeorm';
import { identityColumn } from '../../shared/persistence/bigint-column';
import { Account } from '../domain/account';

export const AccountSchema = new EntitySchema<Account>({
  name: 'Account',
  target: Account,
  tableName: 'accounts',
  columns: {
    id: identityColumn,
    name: { type: 'text' },
    plan: { type: 'text' },
    perMinute: { type: 'integer', name: 'per_minute', nullable: true },
    perDay: { type: 'integer', name: 'per_day', nullable: true },
    createdAt: { type: 'timestamptz', name: 'created_at' },
  },
});
