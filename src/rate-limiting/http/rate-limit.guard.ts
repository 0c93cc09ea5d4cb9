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
import { getDeclaredPaths, getDeclaredVersions } from '../../shared/http/routing/api-versions';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { THROTTLED_MESSAGE } from '../domain/rate-limit-errors';
import { type RateLimitDecision, RateLimiter } from '../domain/rate-limiter';
import { DEFAULT_THROTTLER, type Throttled, ThrottleStorage } from '../domain/throttle-storage';
import { applyRateLimitDecision } from './rate-limit-headers';

/**
 * Enforces the limits of each account's plan with one call to the RateLimiter, for all windows and the ban of the key, and on top of them
 * those of `@Throttle()`, which apply to each account too. `@SkipThrottle()` skips both. A request that one of them rejects costs
 * nothing in the others: the windows of `@Throttle()` come first, and get the request back if a later one or the plan rejects it.
 */
@Injectable()
@ApiErrors(...WINDOWS.map(({ error }) => error), 'key_temporarily_banned')
export class RateLimitGuard extends ThrottlerGuard {
  /** What the windows of `@Throttle()` have admitted so far. */
  private readonly admitted = new WeakMap<FastifyRequest, readonly Throttled[]>();

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
    const plan = this.throttlers.find(({ name }) => name === DEFAULT_THROTTLER);
    if (plan === undefined) {
      throw new Error(`One throttler must be named "${DEFAULT_THROTTLER}": with it, the plans of accounts apply.`);
    }
    this.throttlers = [...this.throttlers.filter((throttler) => throttler !== plan), plan];
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(isPublic(this.reflector, [context.getHandler(), context.getClass()]));
  }

  protected override getTracker(request: FastifyRequest): Promise<string> {
    return Promise.resolve(`${requirePrincipal(request).accountId}`);
  }

  /** Handlers of the same name in controllers of the same name have different counters if they have different versions or paths. */
  protected override generateKey(context: ExecutionContext, suffix: string, name: string): string {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const place = [...getDeclaredVersions({ controller, handler }), ...getDeclaredPaths(controller)];
    return super.generateKey(context, `${place.join()}-${suffix}`, name);
  }

  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const http = request.context.switchToHttp();
    const [httpRequest, reply] = [http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>()];
    const admitted = request.limit === Infinity ? this.admitted.get(httpRequest) : await this.throttle(request);
    // The plan counts a request once, after all windows of `@Throttle()`.
    if (request.throttler.name === DEFAULT_THROTTLER) {
      const decision = await this.limiter.consume(requirePrincipal(httpRequest));
      const counted = decision.rejection === undefined ? admitted : await undo(admitted);
      applyRateLimitDecision(reply, counted?.reduce(combine, decision) ?? decision);
    }
    return true;
  }

  /** Counts the request in a window of `@Throttle()`. @returns what these windows have admitted */
  private async throttle(request: ThrottlerRequest): Promise<readonly Throttled[]> {
    const { context, limit, ttl, blockDuration, throttler, getTracker, generateKey } = request;
    const http = context.switchToHttp();
    const httpRequest = http.getRequest<FastifyRequest>();
    const name = throttler.name ?? DEFAULT_THROTTLER;
    const key = generateKey(context, await getTracker(httpRequest, context), name);
    const before = this.admitted.get(httpRequest) ?? [];
    const throttled = await this.storage.increment(key, ttl, limit, blockDuration, name);
    if (throttled.decision.rejection !== undefined) {
      await undo(before);
      applyRateLimitDecision(http.getResponse<FastifyReply>(), throttled.decision, THROTTLED_MESSAGE);
    }
    const admitted = [...before, throttled];
    this.admitted.set(httpRequest, admitted);
    return admitted;
  }
}

/** @returns the windows as they are afterwards */
function undo(admitted: readonly Throttled[] = []): Promise<Throttled[]> {
  return Promise.all(
    admitted.map(async (throttled) => {
      await throttled.undo();
      const windows = throttled.decision.windows.map((window) => ({ ...window, used: window.used - 1 }));
      return { ...throttled, decision: { ...throttled.decision, windows } };
    }),
  );
}

/** Adds the limit of the operation to a decision, as one more window, which is shown if it has fewer requests left. */
function combine(decision: RateLimitDecision, { decision: operation }: Throttled): RateLimitDecision {
  const shown = operation.remaining < decision.remaining ? operation : decision;
  return { ...shown, windows: [...decision.windows, ...operation.windows] };
}
