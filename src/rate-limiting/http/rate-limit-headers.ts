import type { FastifyReply } from 'fastify';
import { RateLimitError } from '../domain/rate-limit-errors';
import type { RateDecision, Refusal } from '../domain/rate-limiter';

/** Made once: capturing a stack, which a refusal tells nobody, was 15% of the CPU time of a flood of refused requests. */
const REFUSALS: Readonly<Record<Refusal, RateLimitError>> = {
  rate_limit_exceeded: new RateLimitError('rate_limit_exceeded'),
  daily_quota_exceeded: new RateLimitError('daily_quota_exceeded'),
  key_temporarily_banned: new RateLimitError('key_temporarily_banned'),
  too_many_auth_failures: new RateLimitError('too_many_auth_failures'),
};

/**
 * Says in the headers what was decided, see setRateLimitHeaders.
 * @throws RateLimitError when the request is refused
 */
export function applyRateDecision(reply: FastifyReply, decision: RateDecision): void {
  setRateLimitHeaders(reply, decision);
  const { request } = reply;
  request.rateOutcome = decision.refusal ?? (request.principal === undefined ? 'unauthenticated' : 'admitted');
  if (decision.refusal !== undefined) {
    throw REFUSALS[decision.refusal];
  }
}

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
