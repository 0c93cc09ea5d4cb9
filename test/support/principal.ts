import { type Allowance, MAX_REQUEST_LIMIT, WINDOWS } from '../../src/shared/domain/allowance';
import type { Principal } from '../../src/shared/domain/principal';

const UNLIMITED = Object.fromEntries(WINDOWS.map(({ limit }) => [limit, MAX_REQUEST_LIMIT])) as Allowance;

/** A principal with everything that a limiter needs. Windows other than the minute and the day are practically unlimited. */
export function createPrincipal(
  accountId: bigint,
  keyId: bigint,
  perMinute: number,
  perDay: number,
  unbanCount = 0,
): Principal {
  return {
    accountId,
    keyId,
    keyStart: 'abcd',
    plan: 'enterprise',
    isSuspended: false,
    scopes: ['write'],
    allowance: { ...UNLIMITED, perMinute, perDay },
    unbanCount,
  };
}
