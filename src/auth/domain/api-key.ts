import type { Scope } from '../../shared/domain/principal';

const DAY_MS = 86_400_000;

/** How long a key goes on beside the one that takes its place, in ms: by default, and at most. */
export const DEFAULT_GRACE_MS = DAY_MS;
const MAX_GRACE_MS = 7 * DAY_MS;

/** An API key as it is stored: the secret itself is not, only its SHA-256. */
export class ApiKey {
  constructor(
    readonly id: bigint,
    readonly accountId: bigint,
    readonly hash: Buffer,
    /** The first characters of the secret, for people to recognise the key. */
    readonly firstCharacters: string,
    readonly scope: Scope,
    readonly createdAt: Date,
    readonly expiresAt: Date | null,
    readonly revokedAt: Date | null,
    /** The key that takes the place of this one, which then expires at the end of its grace. */
    readonly replacedBy: bigint | null,
    /** When it was used last, or up to about a minute before that. */
    readonly lastUsedAt: Date | null,
    /** How many times its ban was lifted: what it did before the last time is no longer held against it. */
    readonly unbanCount: number,
  ) {}
}

export type NewApiKey = Omit<ApiKey, 'id' | 'revokedAt' | 'replacedBy' | 'lastUsedAt' | 'unbanCount'>;

/** Whether a key works, and until when. */
export type KeyState =
  | { readonly name: 'active' | 'expired' | 'revoked' }
  | { readonly name: 'expiring' | 'rotating'; readonly until: Date };

/** What is asked of a key breaks a rule; the message says which. */
export class InvalidKeyError extends Error {}

/** The key is in a state in which what is asked cannot be done; the message says in which, and what to do. */
export class KeyStateError extends Error {}

/** @throws InvalidKeyError */
export function newApiKey(
  accountId: bigint,
  secret: Pick<ApiKey, 'hash' | 'firstCharacters'>,
  scope: Scope,
  expiresAt: Date | null,
  now: number,
): NewApiKey {
  if (expiresAt !== null && expiresAt.getTime() <= now) {
    throw new InvalidKeyError(`The expiry must be in the future; ${expiresAt.toISOString()} is not.`);
  }
  return { accountId, ...secret, scope, createdAt: new Date(now), expiresAt };
}

export function stateOf({ expiresAt, revokedAt, replacedBy }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) {
    return { name: 'revoked' };
  }
  if (expiresAt === null) {
    return { name: 'active' };
  }
  if (expiresAt.getTime() <= now) {
    return { name: 'expired' };
  }
  return { name: replacedBy === null ? 'expiring' : 'rotating', until: expiresAt };
}

/** Whether requests with the key are let in. */
export function isValid(key: ApiKey, now: number): boolean {
  return !['expired', 'revoked'].includes(stateOf(key, now).name);
}

/**
 * When the key ends if another takes its place now: after the grace, in ms, and never later than it would by itself.
 * @throws InvalidKeyError, KeyStateError
 */
export function endOfRotation(key: ApiKey, graceMs: number, now: number): Date {
  if (graceMs < 0 || graceMs > MAX_GRACE_MS) {
    throw new InvalidKeyError('The grace must be from 0 to 7 days.');
  }
  const state = stateOf(key, now);
  switch (state.name) {
    case 'expired':
    case 'revoked':
      throw ended(key, state.name, 'cannot be rotated');
    case 'rotating':
      throw new KeyStateError(
        `Key ${key.id} is being rotated already: key ${key.replacedBy} takes its place, and it ends at ` +
          `${state.until.toISOString()}. To end it now, revoke it.`,
      );
    case 'active':
    case 'expiring':
      return new Date(Math.min(now + graceMs, key.expiresAt?.getTime() ?? Infinity));
  }
}

/** The key once its ban is lifted. @throws KeyStateError when it is rejected whether or not it is banned */
export function unbanned(key: ApiKey, now: number): ApiKey {
  requireValid(key, now, 'is rejected, banned or not');
  return { ...key, unbanCount: key.unbanCount + 1 };
}

/** The key with another scope. @throws KeyStateError when it is rejected whatever its scope */
export function withScope(key: ApiKey, scope: Scope, now: number): ApiKey {
  requireValid(key, now, 'is rejected, whatever its scope');
  return { ...key, scope };
}

function requireValid(key: ApiKey, now: number, consequence: string): void {
  const { name } = stateOf(key, now);
  if (name === 'expired' || name === 'revoked') {
    throw ended(key, name, consequence);
  }
}

function ended({ id, accountId }: ApiKey, state: string, consequence: string): KeyStateError {
  return new KeyStateError(
    `Key ${id} is ${state}, so it ${consequence}. Create a key for account ${accountId} instead.`,
  );
}
