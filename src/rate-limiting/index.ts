import { RATE_LIMIT_ERROR_ENTRIES } from './http/rate-limit-error-entries';
import { RateLimitUsageModule } from './rate-limiting.module';

export { RateLimiter } from './domain/rate-limiter';
export { RateLimitGuard } from './http/rate-limit.guard';
export { readIpRateLimitHeaders, applyRateLimitDecision, addDefaultRateLimitHeaders } from './http/rate-limit-headers';
export { readRateLimitUsage } from './redis/read-rate-limit-usage';
export type { RateLimitUsage } from './domain/rate-limiter';
export type { RateLimitSubject } from './redis/redis-usage-store';
export { RATE_LIMIT_SETTINGS } from './settings/rate-limit-settings';
export { RateLimitingModule } from './rate-limiting.module';

export const RATE_LIMIT_USAGE = { module: RateLimitUsageModule, errors: RATE_LIMIT_ERROR_ENTRIES };
