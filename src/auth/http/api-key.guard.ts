import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard, type AuthGuardAuthenticateOptions, AuthModuleOptions } from '@nestjs/passport';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addLogFields } from '../../observability';
import { applyRateLimitDecision, RateLimiter } from '../../rate-limiting';
import { getErrorMessage } from '../../shared/domain/error-message';
import { ServiceUnavailableError } from '../../shared/domain/pet-store-error';
import { getClientIp } from '../../shared/http/access/client-ip';
import { ErrorCatalog } from '../../shared/http/errors/error-catalog';
import { BEARER_CHALLENGE } from '../../shared/http/errors/error.filter';
import { isPublic } from '../../shared/http/access/public.decorator';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { Authenticator } from '../authenticator';
import { AccountSuspendedError, AuthenticationError } from '../domain/auth-errors';
import { AuthFailureThrottle } from './auth-failure-throttle';
import { getAuthStrategies } from './auth-strategies.decorator';
import { API_KEY_STRATEGY, parseBearerToken } from './bearer.strategy';

/** Also in a second header, which the HTTP server joins to the first. */
const BEARER_SCHEME = /(^|, )bearer /i;
/** The first failures of a client IP address in a minute are not delayed. */
const THROTTLE_THRESHOLD = 5;

/**
 * Requires a valid API key, or what another strategy of the AuthModule or of `@AuthStrategies()` accepts, on every route that is not
 * `@Public()`, and rejects suspended accounts, whose requests count in no window. Each failure counts against the client IP address;
 * beyond its limit, failures return 429 instead of 401, and after the first few, they are delayed. A valid key is never affected: tokens
 * that arrive together are looked up together.
 */
@Injectable()
@ApiErrors('missing_api_key', 'invalid_api_key', 'expired_api_key', 'too_many_auth_failures', 'account_suspended')
export class ApiKeyGuard implements CanActivate {
  private readonly throttle = new AuthFailureThrottle();
  private readonly passportGuards = new Map<string, CanActivate>();

  constructor(
    private readonly options: AuthModuleOptions,
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
    private readonly authenticator: Authenticator,
    private readonly catalog: ErrorCatalog,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    if (isPublic(this.reflector, targets)) {
      return true;
    }
    if (context.getType() !== 'http') {
      throw new Error(
        `API keys are for HTTP only: put @Public() on ${context.getClass().name}, and check its callers.`,
      );
    }
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const strategies = getAuthStrategies(this.reflector, targets, this.options);
    // Another strategy may come first.
    const token = strategies[0] === API_KEY_STRATEGY ? parseBearerToken(request.headers.authorization) : undefined;
    request.principal = token === undefined ? undefined : this.authenticator.findCached(token);
    if (request.principal !== undefined && !request.principal.isSuspended) {
      return true;
    }
    return this.authenticate(context, strategies);
  }

  private async authenticate(context: ExecutionContext, strategies: readonly string[]): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.principal === undefined) {
      await this.authenticateByPassport(context, strategies);
    }
    if (requirePrincipal(request).isSuspended) {
      throw new AccountSuspendedError();
    }
    return true;
  }

  private async authenticateByPassport(context: ExecutionContext, strategies: readonly string[]): Promise<void> {
    const names = strategies.join();
    const guard = this.passportGuards.get(names) ?? new (createPassportGuard(strategies, this.catalog))(this.options);
    this.passportGuards.set(names, guard);
    try {
      await guard.canActivate(context);
    } catch (error) {
      if (error instanceof AuthenticationError) {
        await this.countFailure(context, error);
      }
      throw error;
    }
  }

  private async countFailure(context: ExecutionContext, error: AuthenticationError): Promise<void> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const decision = await this.limiter.countAuthFailure(getClientIp(request));
    if (decision.rejection !== undefined || decision.limit - decision.remaining > THROTTLE_THRESHOLD) {
      await this.throttle.wait();
    }
    applyRateLimitDecision(reply, decision);
    const hasToken = error.code !== 'missing_api_key';
    reply.header('www-authenticate', hasToken ? `${BEARER_CHALLENGE}, error="invalid_token"` : BEARER_CHALLENGE);
  }
}

/** Creates passport's guard for these strategies, which finds the principal of a request. */
function createPassportGuard(strategies: readonly string[], catalog: ErrorCatalog) {
  const acceptsOthers = strategies.some((name) => name !== API_KEY_STRATEGY);
  return class extends AuthGuard([...strategies]) {
    override getAuthenticateOptions(): AuthGuardAuthenticateOptions {
      return { property: 'principal' satisfies keyof FastifyRequest };
    }

    /** @param info for each strategy that failed, its challenge, or an error with the reason, such as those of passport-jwt */
    override handleRequest<TUser>(error: unknown, user: TUser, info: unknown, context: ExecutionContext): TUser {
      if (error && !(error instanceof UnauthorizedException)) {
        throw error as Error;
      }
      if (!user) {
        const request = context.switchToHttp().getRequest<FastifyRequest>();
        const challenges = [info].flat().map((each) => catalog.convert(each));
        const unavailable = challenges.find((each) => each instanceof ServiceUnavailableError);
        if (unavailable !== undefined) {
          throw unavailable;
        }
        const reasons = challenges.filter((each) => each instanceof Error).map(getErrorMessage);
        if (reasons.length > 0) {
          addLogFields(request, { rejectedCredential: reasons.join() });
        }
        if (!BEARER_SCHEME.test(request.headers.authorization ?? '')) {
          throw new AuthenticationError('missing_api_key', { acceptsOthers });
        }
        const isExpired = challenges.some((each) => typeof each === 'string' && each.includes('expired_api_key'));
        throw new AuthenticationError(isExpired ? 'expired_api_key' : 'invalid_api_key', { acceptsOthers });
      }
      return user;
    }
  };
}
