import type { Settings } from '../../config/settings';
import type { RateLimitUsage } from '../domain/rate-limiter';
import { type RateLimitSubject, RedisUsageStore, toRateLimitUsage } from './redis-usage-store';
import { withTimeout } from './with-timeout';

/** This is short, because an operator waits for the result in a terminal. */
const READ_TIMEOUT_MS = 1_000;

/**
 * Reads the rate limit usage and bans of each subject from Redis without counting a request.
 * @throws Error when Redis does not respond within a second
 */
export async function readRateLimitUsage(
  settings: Settings,
  subjects: readonly RateLimitSubject[],
): Promise<RateLimitUsage[]> {
  const store = RedisUsageStore.create(settings);
  const read = async () => {
    await store.connect();
    const results = await Promise.all(subjects.map((subject) => store.consume([{ subject, requests: 0 }])));
    return results.flatMap((each) => each ?? []).map(toRateLimitUsage);
  };
  try {
    return await withTimeout(READ_TIMEOUT_MS, read());
  } finally {
    store.close();
  }
}
