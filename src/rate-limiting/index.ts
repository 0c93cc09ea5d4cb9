export { RateLimiter } from './domain/rate-limiter';
export { PlanGuard } from './http/plan.guard';
export { applyRateDecision, rateLimitHeaders, setRateLimitHeaders } from './http/rate-limit-headers';
export { RateLimitingModule } from './rate-limiting.module';
