import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { principalOf } from '../../shared/http/principal-of';
import { isPublic } from '../../shared/http/public';
import { RateLimiter } from '../domain/rate-limiter';
import { applyRateDecision } from './rate-limit-headers';

/**
 * Holds every account to its plan. The throttler's storage counts one window per call and route; here one call to the
 * RateLimiter decides about all windows of the account and the ban of the key.
 */
@Injectable()
export class PlanGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {
    super(options, storage, reflector);
  }

  override canActivate(context: ExecutionContext): Promise<boolean> {
    return isPublic(this.reflector, context) ? Promise.resolve(true) : this.hold(context);
  }

  private async hold(context: ExecutionContext): Promise<boolean> {
    const { req, res } = this.getRequestResponse(context) as unknown as { req: FastifyRequest; res: FastifyReply };
    applyRateDecision(res, await this.limiter.countRequest(principalOf(req)));
    return true;
  }
}
