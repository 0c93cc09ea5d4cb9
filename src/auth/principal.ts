import type { Principal } from '../shared/domain/principal';
import { reportUnknownValue } from '../shared/unknown-values';
import { type Account, getAllowance } from './domain/account';

/** What a principal has from its credential. */
export type Credential = Pick<Principal, 'accountId' | 'keyId' | 'keyStart' | 'scopes' | 'unbanCount'>;

/** @returns undefined, after a report, if this version does not know the plan of the account, and therefore its limits */
export function createPrincipal(
  credential: Credential,
  { plan, suspendedAt, ...limits }: Pick<Account, 'plan' | 'perMinute' | 'perDay' | 'suspendedAt'>,
): Principal | undefined {
  const allowance = getAllowance({ plan, ...limits });
  if (allowance === undefined) {
    const { accountId } = credential;
    reportUnknownValue(
      { plan, accountId },
      `the limits of the plan ${JSON.stringify(plan)} of account ${accountId}`,
      'its requests get 503',
    );
    return undefined;
  }
  return { ...credential, plan, allowance, isSuspended: suspendedAt !== null };
}
