export { RateLimiter } from './domain/rate-limiter';
export { PlanGuard } from './http/plan.guard';
export { applyRateDecision, rateLimitHeaders, setRateLimitHeaders } from './http/rate-limit-headers';
export { lookAtCounts } from './redis/look-at-counts';
export type { KeyHolder, RequestCount } from './redis/redis-counts';
export { RateLimitingModule } from './rate-limiting.module';
