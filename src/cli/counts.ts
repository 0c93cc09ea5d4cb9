import { type RateLimitSubject, readRateLimitUsage, type RequestCount } from '../rate-limiting';
import { errorMessage } from '../shared/domain/error-message';
import type { JsonOption } from './arguments';
import type { Printer } from './printer';
import type { Services } from './services';

/**
 * What the replicas have counted of these.
 * @param what is not known without that, for a note to people
 * @returns undefined when it is not known: the command goes on without it
 */
export async function knownCounts(
  { settings }: Services,
  printer: Printer,
  { json }: JsonOption,
  what: string,
  subjects: readonly RateLimitSubject[],
): Promise<readonly RequestCount[] | undefined> {
  if (settings.redisUrls.length === 0) {
    // Programs see it by what is left out; with the settings as they are, it is no news.
    if (!json) {
      printer.note(`${what} is not known here: without REDIS_URL, each replica counts in its own memory.`);
    }
    return undefined;
  }
  try {
    return await readRateLimitUsage(settings, subjects);
  } catch (error) {
    printer.note(`${what} is not known: Redis cannot be used (${errorMessage(error)}).`);
    return undefined;
  }
}
