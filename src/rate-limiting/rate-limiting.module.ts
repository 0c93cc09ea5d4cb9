import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings';
import { Clock } from '../shared/domain/clock';
import { RateLimiter } from './domain/rate-limiter';
import { RateLimitController } from './http/rate-limit.controller';
import { MemoryRateLimiter } from './memory/memory-rate-limiter';
import { RATE_LIMIT_SETTINGS } from './rate-limit-settings';
import { RedisUsageStore } from './redis/redis-usage-store';
import { RedisRateLimiter } from './redis/redis-rate-limiter';

@Module({
  // ThrottlerGuard calls its hook once per throttler, so one must be configured. The limits come from the plan, not from this
  // configuration.
  imports: [ThrottlerModule.forRoot([{ limit: 0, ttl: 0 }])],
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
  ],
  exports: [RateLimiter, ThrottlerModule],
})
export class RateLimitingModule {}

/** The operation that returns the rate limit usage. It is a separate module so that it comes last in the OpenAPI document. */
@Module({ imports: [RateLimitingModule], controllers: [RateLimitController] })
export class RateLimitUsageModule {}
