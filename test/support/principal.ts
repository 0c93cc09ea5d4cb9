import type { Principal } from '../../src/shared/domain/principal';

/** Who sends a request, as far as a limiter asks. */
export function principalOf(
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
    scope: 'write',
    allowance: { perMinute, perDay },
    unbanCount,
  };
}
