import { EntitySchema } from 'typeorm';
import { bigintColumn, identityColumn } from '../../shared/persistence/bigint-column';
import { ApiKey } from '../domain/api-key';

export const ApiKeySchema = new EntitySchema<ApiKey>({
  name: 'ApiKey',
  target: ApiKey,
  tableName: 'api_keys',
  columns: {
    id: identityColumn,
    accountId: { ...bigintColumn, name: 'account_id' },
    hash: { type: 'bytea' },
    firstCharacters: { type: 'text', name: 'first_characters' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    expiresAt: { type: 'timestamptz', name: 'expires_at', nullable: true },
    revokedAt: { type: 'timestamptz', name: 'revoked_at', nullable: true },
    lastUsedAt: { type: 'timestamptz', name: 'last_used_at', nullable: true },
    replacedBy: { ...bigintColumn, name: 'replaced_by', nullable: true },
    unbans: { type: 'integer' },
  },
});
