import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings';
import { Clock } from '../shared/domain/clock';
import { UnitOfWork } from '../shared/domain/unit-of-work';
import { AccountsService } from './accounts.service';
import { getStart, generateSecret, hashSecret } from './api-key-secret';
import { type ApiKey, DEFAULT_GRACE_MS, computeRotationEnd, createApiKey, unbanKey, withScope } from './domain/api-key';
import { ApiKeyRepository } from './domain/api-key.repository';
import { AuditTrail } from './domain/audit-trail';
import { NotFoundError } from './domain/not-found-error';

export interface IssuedKey {
  readonly key: ApiKey;
  /** The API key itself, which cannot be shown again. */
  readonly secret: string;
}

export interface RotatedKey extends IssuedKey {
  /** When the replaced key expires. */
  readonly oldExpiresAt: Date;
}

/** Issues, lists, rotates, unbans and revokes API keys, and sets their scopes. */
@Injectable()
export class KeysService {
  constructor(
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeyRepository,
    private readonly audit: AuditTrail,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** @throws NotFoundError, InvalidKeyError */
  create(accountId: bigint, expiresAt: Date | null = null, scope = 'write'): Promise<IssuedKey> {
    return this.unitOfWork.run(async () => {
      await this.accounts.get(accountId);
      const issued = await this.issue(accountId, scope, expiresAt);
      await this.audit.record({
        action: 'key_created',
        accountId,
        keyId: issued.key.id,
        details: { scope, expiresAt: formatTime(expiresAt) },
      });
      return issued;
    });
  }

  /**
   * Issues a replacement with the same scope; the old key stays valid for the grace period, in ms.
   * @throws NotFoundError, InvalidKeyError, KeyStateError
   */
  rotate(keyId: bigint, graceMs = DEFAULT_GRACE_MS, expiresAt: Date | null = null): Promise<RotatedKey> {
    return this.unitOfWork.run(async () => {
      const old = await this.findForUpdate(keyId);
      const oldExpiresAt = computeRotationEnd(old, graceMs, this.clock.now());
      const issued = await this.issue(old.accountId, old.scope, expiresAt);
      await this.keys.save({ ...old, expiresAt: oldExpiresAt, replacedBy: issued.key.id });
      const details = {
        expiresAt: formatTime(oldExpiresAt),
        newKeyId: issued.key.id,
        newKeyExpiresAt: formatTime(expiresAt),
      };
      await this.audit.record({ action: 'key_rotated', accountId: old.accountId, keyId, details });
      return { ...issued, oldExpiresAt };
    });
  }

  /** @throws NotFoundError */
  async list(accountId: bigint): Promise<ApiKey[]> {
    await this.accounts.get(accountId);
    return this.keys.listByAccount(accountId);
  }

  /** Takes effect on every replica within a second; a revoked key stays unchanged. @throws NotFoundError */
  revoke(keyId: bigint): Promise<ApiKey> {
    return this.unitOfWork.run(async () => {
      const key = await this.findForUpdate(keyId);
      if (key.revokedAt !== null) {
        return key;
      }
      const revoked = { ...key, revokedAt: new Date(this.clock.now()) };
      await this.keys.save(revoked);
      await this.audit.record({ action: 'key_revoked', accountId: key.accountId, keyId, details: {} });
      return revoked;
    });
  }

  /**
   * Lifts the ban of a key, if it has one, on every replica within a second. Its earlier 429 responses and bans no longer count.
   * The database does not store whether a key is banned, so a key that is not banned is accepted.
   * @throws NotFoundError, KeyStateError
   */
  unban(keyId: bigint): Promise<ApiKey> {
    return this.unitOfWork.run(async () => {
      const key = unbanKey(await this.findForUpdate(keyId), this.clock.now());
      await this.keys.save(key);
      await this.audit.record({ action: 'key_unbanned', accountId: key.accountId, keyId, details: {} });
      return key;
    });
  }

  /** Takes effect on every replica within a second. @throws NotFoundError, KeyStateError */
  setScope(keyId: bigint, scope: string): Promise<ApiKey> {
    return this.unitOfWork.run(async () => {
      const old = await this.findForUpdate(keyId);
      const key = withScope(old, scope, this.clock.now());
      await this.keys.save(key);
      const details = { oldScope: old.scope, scope };
      await this.audit.record({ action: 'key_scope_set', accountId: key.accountId, keyId, details });
      return key;
    });
  }

  private async issue(accountId: bigint, scope: string, expiresAt: Date | null): Promise<IssuedKey> {
    const secret = generateSecret(this.settings.environment);
    const stored = { hash: hashSecret(secret), start: getStart(secret) };
    const key = await this.keys.add(createApiKey(accountId, stored, scope, expiresAt, this.clock.now()));
    return { key, secret };
  }

  private async findForUpdate(keyId: bigint): Promise<ApiKey> {
    const key = await this.keys.findForUpdate(keyId);
    if (key === null) {
      throw new NotFoundError(`No key has the ID ${keyId}.`);
    }
    return key;
  }
}

function formatTime(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
