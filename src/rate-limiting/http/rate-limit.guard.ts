import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { isPublic } from '../../shared/http/access/public.decorator';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { RateLimiter } from '../domain/rate-limiter';
import { applyRateLimitDecision } from './rate-limit-headers';

/**
 * Enforces the rate limits of each account's plan. It does not use a throttler storage, which counts one window per route: one call
 * to the RateLimiter covers both windows of the account and the ban of the key.
 */
@Injectable()
@ApiErrors('rate_limit_exceeded', 'daily_quota_exceeded', 'key_temporarily_banned')
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {
    super(options, storage, reflector);
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(isPublic(this.reflector, context));
  }

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const principal = requirePrincipal(http.getRequest<FastifyRequest>());
    applyRateLimitDecision(http.getResponse<FastifyReply>(), await this.limiter.consume(principal));
    return true;
  }
}
