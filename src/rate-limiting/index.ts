export { RateLimiter } from './domain/rate-limiter';
export { PlanGuard } from './http/plan.guard';
export { rateLimitHeaders, setRateLimitHeaders, TOO_MANY_REQUESTS_MESSAGES } from './http/rate-limit-headers';
export { RateLimitingModule } from './rate-limiting.module';
