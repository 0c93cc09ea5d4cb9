import { EntitySchema } from 'typeorm';
import { bigintColumn, identityColumn, integerColumn } from '../../shared/persistence/columns';
import { ApiKey } from '../domain/api-key';

export const ApiKeySchema = new EntitySchema<ApiKey & { readonly firstCharacters: string }>({
  name: 'ApiKey',
  target: ApiKey,
  tableName: 'api_keys',
  columns: {
    id: identityColumn,
    accountId: { ...bigintColumn, name: 'account_id' },
    hash: { type: 'bytea' },
    start: { type: 'text' },
    // `start` in older versions. Listed until a later release drops it, because TypeORM would generate a migration that drops it now.
    firstCharacters: { type: 'text', name: 'first_characters', select: false, insert: false, update: false },
    scope: { type: 'text', default: 'write' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    expiresAt: { type: 'timestamptz', name: 'expires_at', nullable: true },
    revokedAt: { type: 'timestamptz', name: 'revoked_at', nullable: true },
    lastUsedAt: { type: 'timestamptz', name: 'last_used_at', nullable: true },
    replacedBy: { ...bigintColumn, name: 'replaced_by', nullable: true },
    unbanCount: { ...integerColumn, name: 'unbans', default: 0 },
  },
  indices: [{ name: 'api_keys_account_id', columns: ['accountId'] }],
  uniques: [{ name: 'api_keys_hash_key', columns: ['hash'] }],
  foreignKeys: [
    {
      name: 'api_keys_account_id_fkey',
      target: 'Account',
      columnNames: ['accountId'],
      referencedColumnNames: ['id'],
    },
    {
      name: 'api_keys_replaced_by_fkey',
      target: 'ApiKey',
      columnNames: ['replacedBy'],
      referencedColumnNames: ['id'],
    },
  ],
  checks: [
    { name: 'api_keys_scope_check', expression: `scope ~ '^[a-z0-9:_-]+( [a-z0-9:_-]+)*$'` },
    { name: 'api_keys_hash_check', expression: 'octet_length(hash) = 32' },
    { name: 'api_keys_start_check', expression: 'char_length(start) = 4' },
    { name: 'api_keys_first_characters_check', expression: 'char_length(first_characters) = 4' },
    { name: 'api_keys_check', expression: 'replaced_by <> id' },
    { name: 'api_keys_check1', expression: 'replaced_by IS NULL OR expires_at IS NOT NULL' },
  ],
});
