import type { RateLimitSettings } from '../../src/rate-limiting/settings/rate-limit-settings';
import {
  type RateLimitDecision,
  RateLimiter,
  type RateLimitUsage,
  type Rejection,
} from '../../src/rate-limiting/domain/rate-limiter';
import type { Clock } from '../../src/shared/domain/clock';
import type { Principal } from '../../src/shared/domain/principal';

/**
 * A second, simple implementation of the rules in docs/limits.md: it stores every event and checks all of them each time. Its clock must
 * only move forward.
 */
export class ModelRateLimiter extends RateLimiter {
  private readonly admitted: { account: bigint; at: number; opens: boolean }[] = [];
  private readonly rejections: {
    key: bigint;
    unbans: number;
    at: number;
    window: number;
    counts: boolean;
    opens: boolean;
  }[] = [];
  private readonly bans: { key: bigint; unbans: number; to: number; rank: number }[] = [];
  private readonly failures: { ip: string; at: number; opens: boolean }[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly settings: RateLimitSettings,
  ) {
    super();
  }

  consume(principal: Principal): RateLimitDecision {
    const { accountId, allowance } = principal;
    const now = this.clock.now();
    const unbans = this.countUnbans(principal);
    const { windows, bannedUntil } = this.readUsage(principal);
    if (bannedUntil !== undefined) {
      return this.decide(allowance.perMinute, 0, bannedUntil, 'key_temporarily_banned');
    }
    const { minute, day } = windows;
    const exhausted = [minute, day].filter(({ used, limit }) => used >= limit);
    if (exhausted.length > 0) {
      const shown = exhausted.sort((a, b) => a.endsAt - b.endsAt).at(-1) ?? day;
      const banEnd = this.reject({ ...principal, unbanCount: unbans }, shown.endsAt, now);
      if (banEnd !== undefined) {
        return this.decide(allowance.perMinute, 0, banEnd, 'key_temporarily_banned');
      }
      // If both windows end at the same time, the day is reported.
      const isDay = shown === day || (exhausted.includes(day) && day.endsAt === shown.endsAt);
      return this.decide(
        isDay ? day.limit : minute.limit,
        0,
        shown.endsAt,
        isDay ? 'daily_quota_exceeded' : 'rate_limit_exceeded',
      );
    }
    this.admitted.push({ account: accountId, at: now, opens: this.findOpening(accountId) === undefined });
    const left = [minute, day].map(({ limit, used, endsAt }) => ({ limit, remaining: limit - used - 1, endsAt }));
    const [tightest] = left.sort((a, b) => a.remaining - b.remaining || b.endsAt - a.endsAt);
    return this.decide(tightest?.limit ?? 0, tightest?.remaining ?? 0, tightest?.endsAt ?? 0);
  }

  readUsage(principal: Principal): RateLimitUsage {
    const { accountId, keyId, allowance } = principal;
    const now = this.clock.now();
    const unbans = this.countUnbans(principal);
    const ban = this.bans.findLast((each) => each.key === keyId && each.unbans === unbans && each.to > now);
    const mine = this.admitted.filter(({ account }) => account === accountId);
    const opening = this.findOpening(accountId);
    const minute = {
      limit: allowance.perMinute,
      used: opening ? mine.filter(({ at }) => at >= opening.at).length - countEarlierAt(mine, opening) : 0,
      endsAt: (opening?.at ?? now) + 60_000,
    };
    const midnight = new Date(now);
    midnight.setUTCHours(24, 0, 0, 0);
    const day = {
      limit: allowance.perDay,
      used: mine.filter(({ at }) => at >= midnight.getTime() - 86_400_000).length,
      endsAt: midnight.getTime(),
    };
    return { windows: { minute, day }, bannedUntil: ban?.to, readAt: now };
  }

  /** Finds the request that opened the account's minute. */
  private findOpening(accountId: bigint) {
    const now = this.clock.now();
    return this.admitted.findLast(({ account, opens, at }) => account === accountId && opens && at + 60_000 > now);
  }

  /** A replica that does not know of an unban yet learns it from the requests of others. */
  private countUnbans({ keyId, unbanCount }: Principal): number {
    return Math.max(unbanCount, ...this.rejections.map((each) => (each.key === keyId ? each.unbans : 0)));
  }

  countAuthFailure(ip: string): RateLimitDecision {
    return this.decideAuthFailure(ip, 1);
  }

  readAuthFailures(ip: string): RateLimitDecision {
    return this.decideAuthFailure(ip, 0);
  }

  private decideAuthFailure(ip: string, cost: 0 | 1): RateLimitDecision {
    const now = this.clock.now();
    const limit = this.settings.authFailuresPerMinute;
    const mine = this.failures.filter((failure) => failure.ip === ip);
    const opening = mine.findLast(({ opens, at }) => opens && at + 60_000 > now);
    const used = opening ? mine.length - mine.indexOf(opening) : 0;
    const end = (opening?.at ?? now) + 60_000;
    if (cost === 1 && used >= limit) {
      return this.decide(limit, 0, end, 'too_many_auth_failures');
    }
    if (cost === 1) {
      this.failures.push({ ip, at: now, opens: opening === undefined });
    }
    return this.decide(limit, limit - used - cost, end);
  }

  private reject({ keyId, unbanCount: unbans, allowance }: Principal, window: number, now: number): number | undefined {
    const { banGraceSeconds, banWindowSeconds, banDurationsSeconds, banMemorySeconds } = this.settings;
    const isMine = (event: { key: bigint; unbans: number }) => event.key === keyId && event.unbans === unbans;
    const first = this.rejections.find((rejection) => isMine(rejection) && rejection.window === window);
    const counts = first !== undefined && now - first.at > banGraceSeconds * 1_000;
    const lastBan = this.bans.findLast(isMine);
    const mine = this.rejections.filter(
      (rejection) => isMine(rejection) && rejection.counts && rejection.at >= (lastBan?.to ?? 0),
    );
    const opening = mine.findLast(({ opens, at }) => opens && at + banWindowSeconds * 1_000 > now);
    this.rejections.push({ key: keyId, unbans, at: now, window, counts, opens: counts && opening === undefined });
    const count = opening ? mine.length - mine.indexOf(opening) + 1 : 1;
    if (!counts || count <= allowance.perMinute) {
      return undefined;
    }
    const rank = lastBan && now < lastBan.to + banMemorySeconds * 1_000 ? lastBan.rank + 1 : 0;
    const to = now + (banDurationsSeconds[rank] ?? banDurationsSeconds.at(-1) ?? 0) * 1_000;
    this.bans.push({ key: keyId, unbans, to, rank });
    return to;
  }

  private decide(limit: number, remaining: number, resetAt: number, rejection?: Rejection): RateLimitDecision {
    return { limit, remaining, resetAt, decidedAt: this.clock.now(), rejection };
  }
}

/** Counts the events before the opening one at the same time. */
function countEarlierAt<T extends { at: number }>(events: T[], opening: T): number {
  return events.filter(({ at }, index) => at === opening.at && index < events.indexOf(opening)).length;
}
