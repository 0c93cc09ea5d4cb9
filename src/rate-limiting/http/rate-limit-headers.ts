import type { FastifyInstance, FastifyReply } from 'fastify';
import { clientAddress } from '../../shared/http/access/client-address';
import type { Principal } from '../../shared/domain/principal';
import { isUnderV1 } from '../../shared/http/server/url-check';
import { RateLimitError } from '../domain/rate-limit-errors';
import type { RateDecision, RateLimiter, RateLimitUsage, Rejection } from '../domain/rate-limiter';
import { admitted, banned } from '../domain/windows';

/** Made once: capturing a stack, which a rejection tells nobody, was 15% of the CPU time of a flood of rejected requests. */
const REJECTIONS: Readonly<Record<Rejection, RateLimitError>> = {
  rate_limit_exceeded: new RateLimitError('rate_limit_exceeded'),
  daily_quota_exceeded: new RateLimitError('daily_quota_exceeded'),
  key_temporarily_banned: new RateLimitError('key_temporarily_banned'),
  too_many_auth_failures: new RateLimitError('too_many_auth_failures'),
};

/**
 * Says in the headers what was decided, see setRateLimitHeaders.
 * @throws RateLimitError when the request is rejected
 */
export function applyRateDecision(reply: FastifyReply, decision: RateDecision): void {
  setRateLimitHeaders(reply, decision);
  const { request } = reply;
  request.rateOutcome = decision.rejection ?? (request.principal === undefined ? 'unauthenticated' : 'admitted');
  if (decision.rejection !== undefined) {
    throw REJECTIONS[decision.rejection];
  }
}

/** Sets the three rate headers of a response to a request that is not counted. */
export function setUsageHeaders(reply: FastifyReply, principal: Principal, usage: RateLimitUsage): void {
  const { windows, bannedUntil, readAt } = usage;
  const shown = bannedUntil === undefined ? admitted(windows, readAt) : banned(principal, bannedUntil, readAt);
  setRateLimitHeaders(reply, { ...shown, rejection: undefined });
}

/** Sets the three rate headers and, on a rejection, `Retry-After`. */
function setRateLimitHeaders(reply: FastifyReply, decision: RateDecision): void {
  reply.headers(formatRateLimitHeaders(decision));
}

/**
 * Adds the three rate headers to every response under `/v1` to which no guard has: a CORS preflight, say, or a 503 while the
 * key could not be looked up shows the window of the client's address.
 */
export function sendRateLimitHeaders(fastify: FastifyInstance, limiter: RateLimiter): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (reply.hasHeader('x-ratelimit-limit') || !isUnderV1(request.url)) {
      done(null, payload);
      return;
    }
    readAddressRateLimitHeaders(limiter, clientAddress(request)).then(
      (headers) => {
        reply.headers(headers);
        done(null, payload);
      },
      (error: unknown) => {
        done(error as Error);
      },
    );
  });
}

/** The three rate headers of the window in which failures to authenticate from an address count. */
export async function readAddressRateLimitHeaders(
  limiter: RateLimiter,
  address: string,
): Promise<Record<string, string>> {
  return formatRateLimitHeaders(await limiter.countAuthFailure(address, 0));
}

function formatRateLimitHeaders({
  limit,
  remaining,
  resetAt,
  decidedAt,
  rejection,
}: RateDecision): Record<string, string> {
  const resetSeconds = toUnixSeconds(resetAt);
  return {
    'x-ratelimit-limit': `${limit}`,
    'x-ratelimit-remaining': `${remaining}`,
    'x-ratelimit-reset': `${resetSeconds}`,
    ...(rejection && { 'retry-after': `${Math.max(1, Math.ceil(resetSeconds - decidedAt / 1_000))}` }),
  };
}

/** Unix seconds of a time in ms since the epoch, rounded up: nobody is told to come back too early. */
export function toUnixSeconds(time: number): number {
  return Math.ceil(time / 1_000);
}
