import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { applyRateLimitDecision, RateLimiter } from '../../rate-limiting';
import type { Principal } from '../../shared/domain/principal';
import { getClientIp } from '../../shared/http/access/client-ip';
import { BEARER_CHALLENGE } from '../../shared/http/errors/error.filter';
import { isPublic } from '../../shared/http/access/public.decorator';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { Authenticator } from '../authenticator';
import { AuthenticationError } from '../domain/auth-errors';
import { AuthFailureThrottle } from './auth-failure-throttle';

/** RFC 6750 section 2.1: the scheme in any case (RFC 9110 section 11.1), one or more spaces, a b64token. */
const BEARER_CREDENTIALS = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const BEARER_SCHEME = /^bearer /i;
/** A client IP address with fewer failures than this in the current minute is not slowed down. */
const THROTTLE_THRESHOLD = 5;

/**
 * Requires a valid API key on every route that is not `@Public()`. Each failure counts against the client IP address; beyond its limit,
 * failures return 429 instead of 401. A cached key always passes without delay. Any other request from a client IP address with 5 or
 * more failures in the current minute is delayed. While the queue is full, it is rejected if the address is over its limit, and
 * otherwise continues without delay.
 */
@Injectable()
@ApiErrors('missing_api_key', 'invalid_api_key', 'expired_api_key', 'too_many_auth_failures')
export class ApiKeyGuard extends AuthGuard('bearer') {
  private readonly throttle = new AuthFailureThrottle();

  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
    private readonly authenticator: Authenticator,
  ) {
    super();
  }

  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (isPublic(this.reflector, context)) {
      return true;
    }
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const token = parseBearerToken(request);
    request.principal = token === undefined ? undefined : this.authenticator.findCached(token);
    return request.principal !== undefined || this.authenticate(context);
  }

  private async authenticate(context: ExecutionContext): Promise<boolean> {
    await this.throttleAfterFailures(context);
    try {
      return (await super.canActivate(context)) as boolean;
    } catch (error) {
      if (error instanceof AuthenticationError) {
        await this.countFailure(context, error);
      }
      throw error;
    }
  }

  /** Delays a request from a client IP address with recent failures, because it will probably fail too. */
  private async throttleAfterFailures(context: ExecutionContext): Promise<void> {
    const http = context.switchToHttp();
    const decision = this.limiter.readAuthFailures(getClientIp(http.getRequest<FastifyRequest>()));
    const { limit, remaining } = decision;
    if (remaining > 0 && limit - remaining < THROTTLE_THRESHOLD) {
      return;
    }
    if (!this.throttle.isFull) {
      await this.throttle.wait();
    } else if (remaining === 0) {
      applyRateLimitDecision(http.getResponse<FastifyReply>(), { ...decision, rejection: 'too_many_auth_failures' });
    }
  }

  /**
   * Passes only a single well-formed `Authorization` header to the strategy, which would also accept `access_token` in the query
   * or the body.
   */
  override getRequest(context: ExecutionContext): object {
    const token = parseBearerToken(context.switchToHttp().getRequest<FastifyRequest>());
    return { headers: { authorization: token && `Bearer ${token}` } };
  }

  override handleRequest<TUser>(error: unknown, user: TUser, _info: unknown, context: ExecutionContext): TUser {
    if (error) {
      throw error as Error;
    }
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!user) {
      throw new AuthenticationError(hasBearerToken(request) ? 'invalid_api_key' : 'missing_api_key');
    }
    request.principal = user as TUser & Principal;
    return user;
  }

  private async countFailure(context: ExecutionContext, error: AuthenticationError): Promise<void> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    applyRateLimitDecision(reply, await this.limiter.countAuthFailure(getClientIp(request)));
    const hasToken = error.code !== 'missing_api_key';
    reply.header('www-authenticate', hasToken ? `${BEARER_CHALLENGE}, error="invalid_token"` : BEARER_CHALLENGE);
  }
}

/** Returns all `Authorization` headers. Node.js keeps only the first, but a request with two is ambiguous and must be rejected. */
function getAuthorizationHeaders(request: FastifyRequest): readonly string[] {
  const { rawHeaders } = request.raw;
  // headersDistinct would copy all headers of the request.
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'authorization');
}

function parseBearerToken(request: FastifyRequest): string | undefined {
  const [authorization = '', ...others] = getAuthorizationHeaders(request);
  return others.length > 0 ? undefined : BEARER_CREDENTIALS.exec(authorization)?.[1];
}

function hasBearerToken(request: FastifyRequest): boolean {
  return getAuthorizationHeaders(request).some((authorization) => BEARER_SCHEME.test(authorization));
}
