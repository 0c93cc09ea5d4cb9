import type { Settings } from '../../config/settings';
import { type RateLimitSubject, RedisUsageStore, type RequestCount } from './redis-usage-store';
import { withTimeout } from './with-timeout';

/** Somebody waits for it at a terminal. */
const LIMIT_MS = 1_000;

/**
 * What replicas that share a Redis hold against each of these, without counting anything: the end of a ban, or else the use of
 * the windows.
 * @throws when Redis does not tell within a second
 */
export async function readRateLimitUsage(
  settings: Settings,
  subjects: readonly RateLimitSubject[],
): Promise<RequestCount[]> {
  const store = RedisUsageStore.create(settings);
  const look = async () => {
    await store.connect();
    const replies = await Promise.all(subjects.map((subject) => store.countRequests([{ subject, requests: 0 }])));
    return replies.flat();
  };
  try {
    return await withTimeout(LIMIT_MS, look());
  } finally {
    store.close();
  }
}
