import type { Settings } from '../../config/settings';
import { type KeyHolder, RedisCounts, type RequestCount } from './redis-counts';
import { within } from './within';

/** Somebody waits for it at a terminal. */
const LIMIT_MS = 1_000;

/**
 * What replicas that share a Redis hold against each of these, without counting anything: the end of a ban, or else the use of
 * the windows.
 * @throws when Redis does not tell within a second
 */
export async function lookAtCounts(settings: Settings, holders: readonly KeyHolder[]): Promise<RequestCount[]> {
  const counts = RedisCounts.of(settings);
  const look = async () => {
    await counts.connect();
    return Promise.all(holders.map((holder) => counts.countRequests(holder, 0)));
  };
  try {
    return await within(LIMIT_MS, look());
  } finally {
    counts.close();
  }
}
