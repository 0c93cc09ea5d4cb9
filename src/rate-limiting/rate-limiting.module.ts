import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings';
import { MINUTE_MS } from '../shared/domain/allowance';
import { Clock } from '../shared/domain/clock';
import { RateLimiter } from './domain/rate-limiter';
import { ThrottleStorage } from './domain/throttle-storage';
import { RateLimitController } from './http/rate-limit.controller';
import { MemoryRateLimiter } from './memory/memory-rate-limiter';
import { MemoryThrottleStorage } from './memory/memory-throttle-storage';
import { RATE_LIMIT_SETTINGS } from './settings/rate-limit-settings';
import { RedisUsageStore } from './redis/redis-usage-store';
import { RedisRateLimiter } from './redis/redis-rate-limiter';
import { RedisThrottleStorage } from './redis/redis-throttle-storage';

@Module({
  providers: [
    {
      provide: RateLimiter,
      inject: [Clock, Settings],
      useFactory: (clock: Clock, settings: Settings) => {
        const limits = settings.get(RATE_LIMIT_SETTINGS);
        return settings.redisUrls.length === 0
          ? new MemoryRateLimiter(clock, limits)
          : new RedisRateLimiter(RedisUsageStore.create(settings), clock, limits);
      },
    },
    {
      provide: ThrottleStorage,
      inject: [RateLimiter, Clock],
      useFactory: (limiter: RateLimiter, clock: Clock) =>
        limiter instanceof RedisRateLimiter ? new RedisThrottleStorage(limiter) : new MemoryThrottleStorage(clock),
    },
  ],
  exports: [RateLimiter, ThrottleStorage],
})
class RateLimitStoresModule {}

@Module({
  imports: [
    RateLimitStoresModule,
    ThrottlerModule.forRootAsync({
      imports: [RateLimitStoresModule],
      inject: [ThrottleStorage],
      // An operation has no limit of its own, unless `@Throttle()` sets one.
      useFactory: (storage: ThrottleStorage) => ({ throttlers: [{ limit: Infinity, ttl: MINUTE_MS }], storage }),
    }),
  ],
  exports: [RateLimitStoresModule, ThrottlerModule],
})
export class RateLimitingModule {}

/** The operation that returns the rate limit usage. It is a separate module so that it comes last in the OpenAPI document. */
@Module({ imports: [RateLimitingModule], controllers: [RateLimitController] })
export class RateLimitUsageModule {}
