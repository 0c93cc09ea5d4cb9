import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings';
import { Clock } from '../shared/domain/clock';
import { AccountsService } from './accounts.service';
import { firstCharacters, generateSecret, hashSecret } from './api-key-secret';
import type { ApiKey } from './domain/api-key';
import { ApiKeyRepository } from './domain/api-key.repository';
import { AuditTrail } from './domain/audit-trail';
import { UnknownId } from './domain/unknown-id';

export interface IssuedKey {
  readonly key: ApiKey;
  /** The key itself, which nobody can be shown again. */
  readonly secret: string;
}

/** Issues, lists and revokes API keys. */
@Injectable()
export class KeysService {
  constructor(
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeyRepository,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** @throws UnknownId */
  create(accountId: bigint, expiresAt: Date | null = null): Promise<IssuedKey> {
    return this.audit.recording(async (record) => {
      await this.accounts.get(accountId);
      const secret = generateSecret(this.settings.environment);
      const key = await this.keys.add({
        accountId,
        hash: hashSecret(secret),
        firstCharacters: firstCharacters(secret),
        createdAt: new Date(this.clock.now()),
        expiresAt,
      });
      const details = { expiresAt: expiresAt?.toISOString() ?? null };
      await record({ act: 'key_created', accountId, keyId: key.id, details });
      return { key, secret };
    });
  }

  /** @throws UnknownId */
  async list(accountId: bigint): Promise<ApiKey[]> {
    await this.accounts.get(accountId);
    return this.keys.listOf(accountId);
  }

  /** In force on every replica within a second; a key that is revoked already stays as it is. @throws UnknownId */
  revoke(keyId: bigint): Promise<ApiKey> {
    return this.audit.recording(async (record) => {
      const key = await this.findForChange(keyId);
      if (key.revokedAt !== null) {
        return key;
      }
      const revoked = { ...key, revokedAt: new Date(this.clock.now()) };
      await this.keys.save(revoked);
      await record({ act: 'key_revoked', accountId: key.accountId, keyId, details: {} });
      return revoked;
    });
  }

  private async findForChange(keyId: bigint): Promise<ApiKey> {
    const key = await this.keys.findForChange(keyId);
    if (key === null) {
      throw new UnknownId(`No key has the id ${keyId}.`);
    }
    return key;
  }
}
