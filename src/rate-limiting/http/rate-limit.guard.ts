import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WINDOWS } from '../../shared/domain/allowance';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { isPublic } from '../../shared/http/access/public.decorator';
import { getDeclaredVersions } from '../../shared/http/routing/api-versions';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { THROTTLED_MESSAGE } from '../domain/rate-limit-errors';
import { type RateLimitDecision, RateLimiter } from '../domain/rate-limiter';
import { type Throttled, ThrottleStorage } from '../domain/throttle-storage';
import { applyRateLimitDecision } from './rate-limit-headers';

/** The name of a throttler without a name. */
const DEFAULT_THROTTLER = 'default';

/**
 * Enforces the limits of each account's plan with one call to the RateLimiter, for all windows and the ban of the key, and on top of them
 * those of `@Throttle()`, which apply to each account too. `@SkipThrottle()` skips both. A request that one of them rejects costs
 * nothing in the other: the window of `@Throttle()` comes first, and gets the request back if the plan rejects it.
 */
@Injectable()
@ApiErrors(...WINDOWS.map(({ error }) => error), 'key_temporarily_banned')
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() private readonly storage: ThrottleStorage,
    reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {
    super(options, storage, reflector);
  }

  /** @throws Error when no throttler would count requests against the plan */
  override async onModuleInit(): Promise<void> {
    await super.onModuleInit();
    if (!this.throttlers.some(({ name }) => name === DEFAULT_THROTTLER)) {
      throw new Error(`One throttler must be named "${DEFAULT_THROTTLER}": with it, the plans of accounts apply.`);
    }
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(isPublic(this.reflector, context));
  }

  protected override getTracker(request: FastifyRequest): Promise<string> {
    return Promise.resolve(`${requirePrincipal(request).accountId}`);
  }

  /** Handlers of the same name in controllers of the same name have different counters if they have different versions. */
  protected override generateKey(context: ExecutionContext, suffix: string, name: string): string {
    const versions = getDeclaredVersions({ controller: context.getClass(), handler: context.getHandler() });
    return super.generateKey(context, `${versions.join()}-${suffix}`, name);
  }

  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, throttler, limit } = request;
    const http = context.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const throttled = limit === Infinity ? undefined : await this.consumeThrottle(request);
    if (throttled?.decision.rejection !== undefined) {
      applyRateLimitDecision(reply, throttled.decision, THROTTLED_MESSAGE);
    }
    // If there are several throttlers, the plan counts a request once.
    if (throttler.name === DEFAULT_THROTTLER) {
      const decision = await this.limiter.consume(requirePrincipal(http.getRequest<FastifyRequest>()));
      if (decision.rejection !== undefined) {
        await throttled?.undo();
      }
      applyRateLimitDecision(reply, throttled === undefined ? decision : combine(decision, throttled.decision));
    }
    return true;
  }

  private async consumeThrottle(request: ThrottlerRequest): Promise<Throttled> {
    const { context, limit, ttl, blockDuration, throttler, getTracker, generateKey } = request;
    const tracker = await getTracker(context.switchToHttp().getRequest<FastifyRequest>(), context);
    const key = generateKey(context, tracker, throttler.name ?? DEFAULT_THROTTLER);
    return this.storage.increment(key, ttl, limit, blockDuration);
  }
}

/** Returns the decision of the plan, with the limit of the operation as one more window, which is shown if it has fewer requests left. */
function combine(plan: RateLimitDecision, operation: RateLimitDecision): RateLimitDecision {
  const shown = operation.remaining < plan.remaining ? operation : plan;
  return { ...shown, windows: [...plan.windows, ...operation.windows] };
}
