import {
  type Account,
  getAllowance,
  type ApiKey,
  type AuditEntry,
  isKeyValid,
  getApiKeyPrefix,
  type KeyState,
  getKeyState,
} from '../auth';
import type { RateLimitUsage } from '../rate-limiting';
import { type Allowance, WINDOWS } from '../shared/domain/allowance';
import type { View } from './printer';
import type { Services } from './services';

export function createAccountView(account: Account): View {
  const { id, name, plan, perMinute, perDay, createdAt, suspendedAt } = account;
  const known: Partial<Record<keyof Allowance, number | null>> = getAllowance(account) ?? { perMinute, perDay };
  const limits = Object.fromEntries(WINDOWS.map(({ limit }) => [limit, known[limit] ?? null]));
  return { id, name, plan, ...limits, createdAt: createdAt.toISOString(), suspendedAt: formatTime(suspendedAt) };
}

export function createAccountWithKeysView(account: Account, keys: readonly ApiKey[], now: number): View {
  return {
    ...createAccountView(account),
    keys: keys.length,
    validKeys: keys.filter((key) => isKeyValid(key, now)).length,
  };
}

/** Returns the usage of an account's windows; empty if unknown. */
export function createWindowsView(usage: RateLimitUsage | undefined): View {
  if (usage === undefined) {
    return {};
  }
  const views = WINDOWS.map(({ name, opens }) => {
    const { used, limit, endsAt } = usage.windows[name];
    const isOpen = opens === 'calendar' || used > 0;
    return [name, { used, limit, endsAt: isOpen ? new Date(endsAt).toISOString() : null }] as const;
  });
  return Object.fromEntries(views);
}

/**
 * Returns a key without its secret. In a table, the state includes when it ends; in JSON, the times are separate fields.
 * @param usage the rate limit usage of the key, if known
 */
export function createKeyView(
  { settings, clock }: Services,
  isJson: boolean,
  key: ApiKey,
  usage?: RateLimitUsage,
): View {
  const { id, accountId, start, scope, createdAt, lastUsedAt, expiresAt, revokedAt, replacedBy } = key;
  const now = clock.now();
  const bannedUntil = usage?.bannedUntil === undefined ? null : new Date(usage.bannedUntil);
  const state: DisplayedState =
    bannedUntil !== null && isKeyValid(key, now) ? { name: 'banned', until: bannedUntil } : getKeyState(key, now);
  return {
    id,
    accountId,
    start: getApiKeyPrefix(settings.environment) + start,
    scope,
    state: isJson ? state.name : formatState(state),
    createdAt: createdAt.toISOString(),
    lastUsedAt: formatTime(lastUsedAt),
    ...(isJson && { expiresAt: formatTime(expiresAt), replacedBy, revokedAt: formatTime(revokedAt) }),
    ...(isJson && usage && { bannedUntil: formatTime(bannedUntil) }),
  };
}

export function createAuditView({ id, at, operator, action, accountId, keyId, details }: AuditEntry): View {
  return { id, at: at.toISOString(), operator, action, accountId, keyId, details };
}

type DisplayedState = KeyState | { readonly name: 'banned'; readonly until: Date };

function formatState(state: DisplayedState): string {
  switch (state.name) {
    case 'banned':
      return `banned until ${state.until.toISOString()}`;
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

function formatTime(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
