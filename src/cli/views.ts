import {
  type Account,
  allowanceOf,
  type ApiKey,
  type AuditEntry,
  isValid,
  keyPrefix,
  type KeyState,
  stateOf,
} from '../auth';
import type { View } from './printer';
import type { Services } from './services';

export function accountView(account: Account): View {
  const { id, name, plan, createdAt } = account;
  return { id, name, plan, ...allowanceOf(account), createdAt: createdAt.toISOString() };
}

export function accountWithKeysView(account: Account, keys: readonly ApiKey[], now: number): View {
  return {
    ...accountView(account),
    keys: keys.length,
    validKeys: keys.filter((key) => isValid(key, now)).length,
  };
}

/** How a key is shown, without its secret. For people its state says when it ends; programs get the times by themselves. */
export function keyView({ settings, clock }: Services, json: true | undefined): (key: ApiKey) => View {
  const now = clock.now();
  return (key) => {
    const { id, accountId, firstCharacters, createdAt, lastUsedAt, expiresAt, revokedAt, replacedBy } = key;
    const state = stateOf(key, now);
    return {
      id,
      accountId,
      startsWith: keyPrefix(settings.environment) + firstCharacters,
      state: json ? state.name : stateText(state),
      createdAt: createdAt.toISOString(),
      lastUsedAt: iso(lastUsedAt),
      ...(json && { expiresAt: iso(expiresAt), replacedBy, revokedAt: iso(revokedAt) }),
    };
  };
}

export function auditView({ id, at, operator, act, accountId, keyId, details }: AuditEntry): View {
  return { id, at: at.toISOString(), operator, act, accountId, keyId, details };
}

function stateText(state: KeyState): string {
  switch (state.name) {
    case 'expiring':
      return `expires ${state.until.toISOString()}`;
    case 'rotating':
      return `rotating until ${state.until.toISOString()}`;
    case 'active':
    case 'expired':
    case 'revoked':
      return state.name;
  }
}

function iso(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
