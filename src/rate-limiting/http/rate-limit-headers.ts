import type { FastifyInstance, FastifyReply } from 'fastify';
import { getClientIp } from '../../shared/http/access/client-ip';
import type { Principal } from '../../shared/domain/principal';
import { findApiVersion } from '../../shared/http/access/url-check';
import { RateLimitError } from '../domain/rate-limit-errors';
import type { RateLimitDecision, RateLimiter, RateLimitUsage } from '../domain/rate-limiter';
import { createAdmittedDecision, createBannedDecision, getRemaining } from '../domain/windows';

/**
 * Sets the rate limit headers and records the outcome of the decision for logs and metrics.
 * @throws RateLimitError when the request is rejected
 */
export function applyRateLimitDecision(reply: FastifyReply, decision: RateLimitDecision, message?: string): void {
  reply.headers(formatRateLimitHeaders(decision));
  const { request } = reply;
  request.rateLimitOutcome = decision.rejection ?? (request.principal === undefined ? 'unauthenticated' : 'admitted');
  if (decision.rejection !== undefined) {
    throw new RateLimitError(decision.rejection, message);
  }
}

/** Sets the rate limit headers on the response to a request that is not counted. */
export function setRateLimitUsageHeaders(reply: FastifyReply, principal: Principal, usage: RateLimitUsage): void {
  const { windows, bannedUntil, readAt } = usage;
  const decision =
    bannedUntil === undefined
      ? createAdmittedDecision(windows, readAt)
      : createBannedDecision(principal.allowance, bannedUntil, readAt);
  reply.headers(formatRateLimitHeaders({ ...decision, rejection: undefined }));
}

/**
 * Adds the rate limit headers to every response under `/v1` (and `/v2`, …) that has none yet: those of the account, such as for a suspended
 * one or an operation with `@SkipThrottle()`; for a request without a principal, such as a CORS preflight or a 503 during key lookup, those
 * of the client IP address.
 */
export function addDefaultRateLimitHeaders(fastify: FastifyInstance, limiter: RateLimiter): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (reply.hasHeader('x-ratelimit-limit') || findApiVersion(request.url, fastify) === undefined) {
      done(null, payload);
      return;
    }
    const { principal } = request;
    const addIpHeaders = () => {
      reply.headers(readIpRateLimitHeaders(limiter, getClientIp(request)));
      done(null, payload);
    };
    if (principal === undefined) {
      addIpHeaders();
      return;
    }
    Promise.resolve(limiter.readUsage(principal)).then((usage) => {
      setRateLimitUsageHeaders(reply, principal, usage);
      done(null, payload);
    }, addIpHeaders);
  });
}

/** Returns the rate limit headers for the failed authentications of a client IP address. */
export function readIpRateLimitHeaders(limiter: RateLimiter, ip: string): Record<string, string> {
  return formatRateLimitHeaders(limiter.readAuthFailures(ip));
}

/** The rate limit headers, and `Retry-After` if the request is rejected. */
function formatRateLimitHeaders(decision: RateLimitDecision): Record<string, string> {
  const { limit, remaining, resetAt, decidedAt, rejection, windows } = decision;
  const resetSeconds = toUnixSeconds(resetAt);
  // These two follow the IETF's draft-ietf-httpapi-ratelimit-headers-10.
  let [policy, usage] = ['', ''];
  for (const window of windows) {
    const separator = policy && ', ';
    const secondsLeft = Math.max(0, Math.ceil((window.endsAt - decidedAt) / 1_000));
    policy += `${separator}"${window.name}";q=${window.limit};w=${Math.ceil(window.lengthMs / 1_000)}`;
    usage += `${separator}"${window.name}";r=${getRemaining(window)};t=${secondsLeft}`;
  }
  return {
    'x-ratelimit-limit': `${limit}`,
    'x-ratelimit-remaining': `${remaining}`,
    'x-ratelimit-reset': `${resetSeconds}`,
    'ratelimit-policy': policy,
    ratelimit: usage,
    ...(rejection && { 'retry-after': `${Math.max(1, Math.ceil(resetSeconds - decidedAt / 1_000))}` }),
  };
}

/** Converts ms since the epoch to Unix seconds, rounded up so that no client retries too early. */
export function toUnixSeconds(time: number): number {
  return Math.ceil(time / 1_000);
}
