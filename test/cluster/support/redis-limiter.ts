import { createRedisClient } from '../../../src/rate-limiting/redis/redis-client';
import { RedisRateLimiter } from '../../../src/rate-limiting/redis/redis-rate-limiter';
import { RedisUsageStore } from '../../../src/rate-limiting/redis/redis-usage-store';
import { LIMITS } from '../../contracts/rate-limiter.contract';
import { onEnd } from '../../support/cleanup';
import type { TestClock } from '../../support/test-clock';
import { eventually } from './replica';

/** Creates the limiter of a replica, which may not have reached Redis yet. */
export async function startRedisLimiter(
  clock: TestClock,
  settings: typeof LIMITS,
  prefix: string,
  urls: readonly string[],
  // A generous timeout: a busy machine must not look like a slow Redis.
  replyTimeoutMs = 10_000,
): Promise<RedisRateLimiter> {
  const usageStore = new RedisUsageStore(createRedisClient(urls), prefix, settings, () => clock.now());
  const limiter = new RedisRateLimiter(usageStore, clock, settings, replyTimeoutMs);
  onEnd(() => {
    limiter.onApplicationShutdown();
  });
  await limiter.onModuleInit();
  return limiter;
}

/** Creates the limiter of a replica, and waits until it uses Redis. */
export async function createRedisLimiter(...options: Parameters<typeof startRedisLimiter>): Promise<RedisRateLimiter> {
  const limiter = await startRedisLimiter(...options);
  await eventually(10_000, () => !limiter.monitor.isDegraded);
  return limiter;
}
