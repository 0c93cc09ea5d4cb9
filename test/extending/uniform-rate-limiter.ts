import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../../src/rate-limiting';
import type { RateLimitDecision, RateLimitUsage } from '../../src/rate-limiting/domain/rate-limiter';
import { mapWindows } from '../../src/rate-limiting/domain/windows';
import { Clock } from '../../src/shared/domain/clock';
import type { Principal } from '../../src/shared/domain/principal';

const LIMIT = 3;

/** Gives every account the same few requests, once, and does not count failed authentications. */
@Injectable()
export class UniformRateLimiter extends RateLimiter {
  private readonly used = new Map<bigint, number>();

  constructor(private readonly clock: Clock) {
    super();
  }

  consume({ accountId }: Principal): RateLimitDecision {
    const used = (this.used.get(accountId) ?? 0) + 1;
    this.used.set(accountId, used);
    return this.createDecision(LIMIT - used);
  }

  readUsage({ accountId }: Principal): RateLimitUsage {
    const now = this.clock.now();
    const window = { limit: LIMIT, used: Math.min(LIMIT, this.used.get(accountId) ?? 0), endsAt: now + 86_400_000 };
    return { windows: mapWindows(() => window), bannedUntil: undefined, readAt: now };
  }

  countAuthFailure(): RateLimitDecision {
    return this.createDecision(LIMIT);
  }

  readAuthFailures(): RateLimitDecision {
    return this.createDecision(LIMIT);
  }

  private createDecision(remaining: number): RateLimitDecision {
    const now = this.clock.now();
    const [used, endsAt] = [Math.min(LIMIT, LIMIT - remaining), now + 86_400_000];
    return {
      ...{ limit: LIMIT, remaining: LIMIT - used, resetAt: endsAt, decidedAt: now },
      rejection: remaining < 0 ? 'daily_quota_exceeded' : undefined,
      windows: [{ name: 'uniform', lengthMs: 86_400_000, limit: LIMIT, used, endsAt }],
    };
  }
}
