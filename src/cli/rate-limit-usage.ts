import { type Account, type ApiKey, getAllowance } from '../auth';
import { type RateLimitUsage, readRateLimitUsage } from '../rate-limiting';
import { getErrorMessage } from '../shared/domain/error-message';
import type { Printer } from './printer';
import type { Services } from './services';

/**
 * Reads the rate limit usage of an account's keys that the replicas share.
 * @param what the name of the requested information, for a note if it is unknown
 * @returns undefined if it is unknown: the command continues without it
 */
export async function readSharedUsage(
  { settings }: Services,
  printer: Printer,
  what: string,
  account: Account,
  keys: readonly Pick<ApiKey, 'id' | 'unbanCount'>[],
): Promise<readonly RateLimitUsage[] | undefined> {
  if (settings.redisUrls.length === 0) {
    // With --json, the missing fields are enough: with these settings, that is expected.
    if (!printer.isJson) {
      printer.printNote(`${what} is unknown: without REDIS_URL, each replica counts in its own memory.`);
    }
    return undefined;
  }
  const allowance = getAllowance(account);
  if (allowance === undefined) {
    printer.printNote(`${what} is unknown: this version does not know the limits of the plan ${account.plan}.`);
    return undefined;
  }
  const subjects = keys.map(({ id, unbanCount }) => ({ accountId: account.id, keyId: id, allowance, unbanCount }));
  try {
    return await readRateLimitUsage(settings, subjects);
  } catch (error) {
    printer.printNote(`${what} is unknown: Redis is unavailable (${getErrorMessage(error)}).`);
    return undefined;
  }
}
