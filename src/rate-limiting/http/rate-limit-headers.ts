import type { FastifyReply } from 'fastify';
import type { RateDecision, Refusal } from '../domain/rate-limiter';

/** What a 429 tells the client, by its code. */
export const TOO_MANY_REQUESTS_MESSAGES: Readonly<Record<Refusal, string>> = {
  rate_limit_exceeded: "The plan's requests for this minute are used up. Wait for the time in Retry-After.",
  daily_quota_exceeded: "The plan's requests for this day (UTC) are used up. Wait for the time in Retry-After.",
  key_temporarily_banned:
    'This API key is banned for a while, because it kept sending requests after 429. Wait for the time in Retry-After.',
  too_many_auth_failures:
    'Too many requests without a valid API key came from this address. Wait for the time in Retry-After, or send a valid key.',
};

/** Sets the three rate headers (interface, Rate limit headers) and, on a refusal, `Retry-After`. */
export function setRateLimitHeaders(reply: FastifyReply, decision: RateDecision): void {
  reply.headers(rateLimitHeaders(decision));
}

export function rateLimitHeaders({
  limit,
  remaining,
  resetAt,
  decidedAt,
  refusal,
}: RateDecision): Record<string, string> {
  const resetSeconds = Math.ceil(resetAt / 1_000);
  return {
    'x-ratelimit-limit': `${limit}`,
    'x-ratelimit-remaining': `${remaining}`,
    'x-ratelimit-reset': `${resetSeconds}`,
    ...(refusal && { 'retry-after': `${Math.max(1, Math.ceil(resetSeconds - decidedAt / 1_000))}` }),
  };
}
