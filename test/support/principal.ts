import type { Principal } from '../../src/shared/domain/principal';

/** A principal with everything that a limiter needs. */
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
    keyFirstCharacters: 'abcd',
    plan: 'enterprise',
    isSuspended: false,
    scopes: ['write'],
    allowance: { perMinute, perDay },
    unbanCount,
  };
}
