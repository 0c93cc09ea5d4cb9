import { MAX_TIME } from '../../shared/domain/date-time';

const DAY_MS = 86_400_000;

/** The grace period of a rotated key, in ms: the default and the maximum. */
export const DEFAULT_GRACE_MS = DAY_MS;
const MAX_GRACE_MS = 7 * DAY_MS;

/** An API key as it is stored: with the SHA-256 of the secret, never the secret itself. */
export class ApiKey {
  constructor(
    readonly id: bigint,
    readonly accountId: bigint,
    readonly hash: Buffer,
    /** The first 4 random characters of the key, after its prefix, by which people recognize it. */
    readonly start: string,
    /** Names separated by spaces. This version may not know some of them, which then grant nothing. */
    readonly scope: string,
    readonly createdAt: Date,
    readonly expiresAt: Date | null,
    readonly revokedAt: Date | null,
    /** The key that replaces this one, which then expires at the end of its grace period. */
    readonly replacedBy: bigint | null,
    /** When the key was last used; up to about a minute out of date. */
    readonly lastUsedAt: Date | null,
    /** How many times the key was unbanned. Rejections and bans before the last unban no longer count. */
    readonly unbanCount: number,
  ) {}
}

export type NewApiKey = Omit<ApiKey, 'id' | 'revokedAt' | 'replacedBy' | 'lastUsedAt' | 'unbanCount'>;

/** Whether a key is valid, and until when. */
export type KeyState =
  | { readonly name: 'active' | 'expired' | 'revoked' }
  | { readonly name: 'expiring' | 'rotating'; readonly until: Date };

/** A value given for a key is invalid; the message says why. */
export class InvalidKeyError extends Error {}

/** The state of the key does not allow the change; the message names the state and what to do instead. */
export class KeyStateError extends Error {}

/** @throws InvalidKeyError */
export function createApiKey(
  accountId: bigint,
  secret: Pick<ApiKey, 'hash' | 'start'>,
  scope: string,
  expiresAt: Date | null,
  now: number,
): NewApiKey {
  if (expiresAt !== null && expiresAt.getTime() <= now) {
    throw new InvalidKeyError(`The expiry must be in the future; ${expiresAt.toISOString()} is not.`);
  }
  return { accountId, ...secret, scope, createdAt: new Date(now), expiresAt };
}

export function getKeyState({ expiresAt, revokedAt, replacedBy }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) {
    return { name: 'revoked' };
  }
  if (expiresAt !== null && expiresAt.getTime() <= now) {
    return { name: 'expired' };
  }
  if (expiresAt !== null && replacedBy !== null) {
    return { name: 'rotating', until: expiresAt };
  }
  // The latest time also stands for `infinity`.
  return expiresAt === null || expiresAt.getTime() >= MAX_TIME
    ? { name: 'active' }
    : { name: 'expiring', until: expiresAt };
}

/** Whether requests with the key are authenticated. */
export function isKeyValid(key: ApiKey, now: number): boolean {
  return !['expired', 'revoked'].includes(getKeyState(key, now).name);
}

/**
 * Computes when a key expires if it is replaced now: after the grace period, in ms, but never later than its own expiry.
 * @throws InvalidKeyError, KeyStateError
 */
export function computeRotationEnd(key: ApiKey, graceMs: number, now: number): Date {
  if (graceMs < 0 || graceMs > MAX_GRACE_MS) {
    throw new InvalidKeyError('The grace period must be from 0 to 7 days.');
  }
  const state = getKeyState(key, now);
  switch (state.name) {
    case 'expired':
    case 'revoked':
      throw createStateError(key, state.name, 'it cannot be rotated');
    case 'rotating':
      throw new KeyStateError(
        `Key ${key.id} is already being rotated: key ${key.replacedBy} replaces it. Key ${key.id} expires at ` +
          `${state.until.toISOString()}; to end its grace period now, revoke key ${key.id}.`,
      );
    case 'active':
    case 'expiring':
      return new Date(Math.min(now + graceMs, key.expiresAt?.getTime() ?? Infinity));
  }
}

/** Returns the key with its ban lifted. @throws KeyStateError if the key is expired or revoked */
export function unbanKey(key: ApiKey, now: number): ApiKey {
  requireValid(key, now, 'it cannot be unbanned');
  return { ...key, unbanCount: key.unbanCount + 1 };
}

/** Returns the key with another scope. @throws KeyStateError if the key is expired or revoked */
export function withScope(key: ApiKey, scope: string, now: number): ApiKey {
  requireValid(key, now, 'its scope cannot be changed');
  return { ...key, scope };
}

function requireValid(key: ApiKey, now: number, consequence: string): void {
  const { name } = getKeyState(key, now);
  if (name === 'expired' || name === 'revoked') {
    throw createStateError(key, name, consequence);
  }
}

function createStateError({ id, accountId }: ApiKey, state: string, consequence: string): KeyStateError {
  return new KeyStateError(`Key ${id} is ${state}, so ${consequence}. Create a key for account ${accountId} instead.`);
}
