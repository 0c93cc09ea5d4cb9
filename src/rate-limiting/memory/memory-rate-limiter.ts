import ipaddr from 'ipaddr.js';
import type { RateLimitSettings } from '../../config/settings';
import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Principal } from '../../shared/domain/principal';
import { type RateDecision, RateLimiter, type Refusal } from '../domain/rate-limiter';
import { endOfDay, isExhausted, MINUTE_MS, tighter, type Window } from '../domain/windows';

/** Entries kept of each kind: about 20 MB at most. */
const CAPACITY = 100_000;

interface AccountUse {
  minuteEndsAt: number;
  minuteUsed: number;
  dayEndsAt: number;
  dayUsed: number;
  readonly expiresAt: number;
}

interface KeyConduct {
  refusals: number;
  refusalsUntil: number;
  bans: number;
  bannedUntil: number;
  expiresAt: number;
}

interface AddressUse {
  failures: number;
  readonly expiresAt: number;
}

/** The limiter of a single replica, in its memory. */
export class MemoryRateLimiter extends RateLimiter {
  private readonly accounts: ExpiringMap<bigint, AccountUse>;
  private readonly keys: ExpiringMap<bigint, KeyConduct>;
  private readonly addresses: ExpiringMap<string, AddressUse>;

  constructor(
    private readonly clock: Clock,
    private readonly settings: RateLimitSettings,
    capacity: number = CAPACITY,
  ) {
    super();
    this.accounts = new ExpiringMap(capacity);
    this.keys = new ExpiringMap(capacity);
    this.addresses = new ExpiringMap(capacity);
  }

  /** How many accounts, keys and addresses are remembered. */
  get size(): number {
    return this.accounts.size + this.keys.size + this.addresses.size;
  }

  countRequest(principal: Principal): RateDecision {
    const now = this.clock.now();
    const { accountId, keyId, allowance } = principal;
    const bannedUntil = this.keys.get(keyId, now)?.bannedUntil ?? 0;
    if (bannedUntil > now) {
      return banned(allowance.perMinute, bannedUntil, now);
    }
    const use = this.accounts.get(accountId, now);
    const minute = openMinute(use, allowance.perMinute, now);
    const day = openDay(use, allowance.perDay, now);
    if (isExhausted(minute) || isExhausted(day)) {
      const banEnd = this.countRefusal(principal, now);
      if (banEnd !== undefined) {
        return banned(allowance.perMinute, banEnd, now);
      }
      const shown = !isExhausted(day) || (isExhausted(minute) && minute.endsAt > day.endsAt) ? minute : day;
      return decision(shown, now, shown === minute ? 'rate_limit_exceeded' : 'daily_quota_exceeded');
    }
    minute.used++;
    day.used++;
    if (use?.minuteEndsAt === minute.endsAt && use.dayEndsAt === day.endsAt) {
      use.minuteUsed = minute.used;
      use.dayUsed = day.used;
    } else {
      const opened = {
        minuteEndsAt: minute.endsAt,
        minuteUsed: minute.used,
        dayEndsAt: day.endsAt,
        dayUsed: day.used,
        expiresAt: Math.max(minute.endsAt, day.endsAt),
      };
      this.accounts.set(accountId, opened, now);
    }
    return decision(tighter(minute, day), now);
  }

  countAuthFailure(address: string, cost: 0 | 1): RateDecision {
    const now = this.clock.now();
    const network = networkOf(address);
    let use = this.addresses.get(network, now);
    if (use === undefined || use.expiresAt - now > MINUTE_MS) {
      use = { failures: 0, expiresAt: now + MINUTE_MS };
      if (cost > 0) {
        this.addresses.set(network, use, now);
      }
    }
    const window = { limit: this.settings.authFailuresPerMinute, used: use.failures, endsAt: use.expiresAt };
    if (cost > 0 && isExhausted(window)) {
      return decision(window, now, 'too_many_auth_failures');
    }
    use.failures = window.used += cost;
    return decision(window, now);
  }

  /** Notes a refusal of a key. @returns when its ban ends, if this refusal is one too many. */
  private countRefusal({ keyId, allowance }: Principal, now: number): number | undefined {
    const { banWindowSeconds, banDurationsSeconds, banMemorySeconds } = this.settings;
    const conduct = this.keys.get(keyId, now) ?? {
      refusals: 0,
      refusalsUntil: 0,
      bans: 0,
      bannedUntil: 0,
      expiresAt: 0,
    };
    const windowMs = banWindowSeconds * 1_000;
    if (conduct.refusalsUntil <= now || conduct.refusalsUntil > now + windowMs) {
      conduct.refusals = 0;
      conduct.refusalsUntil = now + windowMs;
    }
    conduct.refusals++;
    const isBan = conduct.refusals > allowance.perMinute;
    if (isBan) {
      const isRepeated = now < conduct.bannedUntil + banMemorySeconds * 1_000;
      conduct.bans = isRepeated ? conduct.bans + 1 : 1;
      const seconds = banDurationsSeconds[Math.min(conduct.bans, banDurationsSeconds.length) - 1] ?? 0;
      conduct.bannedUntil = now + seconds * 1_000;
      conduct.refusalsUntil = 0;
    }
    conduct.expiresAt = Math.max(conduct.refusalsUntil, conduct.bannedUntil + banMemorySeconds * 1_000);
    this.keys.set(keyId, conduct, now);
    return isBan ? conduct.bannedUntil : undefined;
  }
}

/** The minute window as it is, or a new one. One that ends later than a new one would is left from a clock set back since. */
function openMinute(use: AccountUse | undefined, limit: number, now: number): Window {
  const newEnd = now + MINUTE_MS;
  return use !== undefined && use.minuteEndsAt > now && use.minuteEndsAt <= newEnd
    ? { limit, used: use.minuteUsed, endsAt: use.minuteEndsAt }
    : { limit, used: 0, endsAt: newEnd };
}

function openDay(use: AccountUse | undefined, limit: number, now: number): Window {
  const endsAt = endOfDay(now);
  return { limit, used: use?.dayEndsAt === endsAt ? use.dayUsed : 0, endsAt };
}

function decision({ limit, used, endsAt }: Window, decidedAt: number, refusal?: Refusal): RateDecision {
  return { limit, remaining: Math.max(0, limit - used), resetAt: endsAt, decidedAt, refusal };
}

function banned(limit: number, bannedUntil: number, now: number): RateDecision {
  return decision({ limit, used: limit, endsAt: bannedUntil }, now, 'key_temporarily_banned');
}

/** IPv4 addresses as they are, also when written as IPv6; IPv6 addresses by the /64 that one customer holds. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) {
    return address;
  }
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
