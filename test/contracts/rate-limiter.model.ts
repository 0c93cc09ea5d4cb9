import type { RateLimitSettings } from '../../src/rate-limiting/settings/rate-limit-settings';
import {
  type AccountWindows,
  type NamedWindow,
  type RateLimitDecision,
  RateLimiter,
  type RateLimitUsage,
  type Rejection,
} from '../../src/rate-limiting/domain/rate-limiter';
import { WINDOWS } from '../../src/shared/domain/allowance';
import type { Clock } from '../../src/shared/domain/clock';
import type { Principal } from '../../src/shared/domain/principal';

type Window = (typeof WINDOWS)[number];

/**
 * A second, simple implementation of the rules in docs/api.md: it stores every event and checks all of them each time. Its clock must
 * only move forward.
 */
export class ModelRateLimiter extends RateLimiter {
  private readonly admitted: { account: bigint; at: number; opens: readonly Window[] }[] = [];
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
    const { accountId } = principal;
    const now = this.clock.now();
    const unbans = this.countUnbans(principal);
    const { windows, bannedUntil } = this.readUsage(principal);
    if (bannedUntil !== undefined) {
      return this.decideBan(principal, bannedUntil);
    }
    // If several end at the same time, the longest is shown.
    const shown = WINDOWS.filter(({ name }) => windows[name].used >= windows[name].limit)
      .sort((a, b) => windows[a.name].endsAt - windows[b.name].endsAt)
      .at(-1);
    if (shown !== undefined) {
      const { limit, endsAt } = windows[shown.name];
      const banEnd = this.reject({ ...principal, unbanCount: unbans }, endsAt, now);
      return banEnd === undefined
        ? this.decide(limit, 0, endsAt, nameWindows(windows), shown.error)
        : this.decideBan(principal, banEnd);
    }
    const opens = WINDOWS.filter((window) => this.findOpening(accountId, window) === undefined);
    this.admitted.push({ account: accountId, at: now, opens });
    const counted = nameWindows(this.readUsage(principal).windows);
    const left = counted.map(({ limit, used, endsAt }) => ({ limit, remaining: limit - used, endsAt })).reverse();
    const [tightest] = left.sort((a, b) => a.remaining - b.remaining || b.endsAt - a.endsAt);
    return this.decide(tightest?.limit ?? 0, tightest?.remaining ?? 0, tightest?.endsAt ?? 0, counted);
  }

  readUsage(principal: Principal): RateLimitUsage {
    const { accountId, keyId, allowance } = principal;
    const now = this.clock.now();
    const unbans = this.countUnbans(principal);
    const ban = this.bans.findLast((each) => each.key === keyId && each.unbans === unbans && each.to > now);
    const mine = this.admitted.filter(({ account }) => account === accountId);
    const windows = WINDOWS.map((window) => {
      const { name, limit, lengthMs, opens } = window;
      const opening = this.findOpening(accountId, window);
      const used = opening ? mine.length - mine.indexOf(opening) : 0;
      const startedAt = opens === 'calendar' ? now - (now % lengthMs) : (opening?.at ?? now);
      return [name, { limit: allowance[limit], used, endsAt: startedAt + lengthMs }] as const;
    });
    return { windows: Object.fromEntries(windows) as AccountWindows, bannedUntil: ban?.to, readAt: now };
  }

  /** Finds the request that opened the account's window. */
  private findOpening(accountId: bigint, window: Window) {
    const now = this.clock.now();
    const { lengthMs, opens } = window;
    const earliest = opens === 'calendar' ? now - (now % lengthMs) : now - lengthMs + 1;
    return this.admitted.findLast(
      (each) => each.account === accountId && each.opens.includes(window) && each.at >= earliest,
    );
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
    const decide = (count: number, rejection?: Rejection) => {
      const window = { name: 'client-ip', lengthMs: 60_000, limit, used: count, endsAt: end };
      return this.decide(limit, limit - count, end, [window], rejection);
    };
    if (cost === 1 && used >= limit) {
      return decide(used, 'too_many_auth_failures');
    }
    if (cost === 1) {
      this.failures.push({ ip, at: now, opens: opening === undefined });
    }
    return decide(used + cost);
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

  private decideBan({ allowance }: Principal, bannedUntil: number): RateLimitDecision {
    const windows = WINDOWS.map(({ name, lengthMs, limit }) => {
      const [total, used] = [allowance[limit], allowance[limit]];
      return { name, lengthMs, limit: total, used, endsAt: bannedUntil };
    });
    return this.decide(allowance.perMinute, 0, bannedUntil, windows, 'key_temporarily_banned');
  }

  private decide(
    limit: number,
    remaining: number,
    resetAt: number,
    windows: readonly NamedWindow[],
    rejection?: Rejection,
  ): RateLimitDecision {
    return { limit, remaining, resetAt, decidedAt: this.clock.now(), rejection, windows };
  }
}

function nameWindows(windows: AccountWindows): NamedWindow[] {
  return WINDOWS.map(({ name, lengthMs }) => ({ name, lengthMs, ...windows[name] }));
}
