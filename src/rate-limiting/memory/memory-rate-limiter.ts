import type { RateLimitSettings } from '../../config/settings';
import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Principal } from '../../shared/domain/principal';
import { type RateDecision, RateLimiter } from '../domain/rate-limiter';
import {
  type AccountWindows,
  admitted,
  authFailure,
  banned,
  endOfDay,
  isExhausted,
  MINUTE_MS,
  refused,
  type Window,
} from '../domain/windows';
import { networkOf } from '../network';

/** Entries kept of each kind: about 20 MB at most. */
const CAPACITY = 100_000;

interface AccountUse {
  minuteEndsAt: number;
  minuteUsed: number;
  dayEndsAt: number;
  dayUsed: number;
  /** How many of those were admitted here and reported nowhere; see takeUnreported. */
  minuteUnreported: number;
  dayUnreported: number;
  expiresAt: number;
}

interface KeyConduct {
  /** How many times the ban of the key had been lifted by then. */
  readonly unbans: number;
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

/** What a limiter in memory admitted of one account while nobody else could be told. */
export interface UnreportedUse {
  readonly accountId: bigint;
  readonly minuteEndsAt: number;
  readonly minute: number;
  readonly dayEndsAt: number;
  readonly day: number;
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
    const { accountId, allowance } = principal;
    const bannedUntil = this.conductOf(principal, now)?.bannedUntil ?? 0;
    if (bannedUntil > now) {
      return banned(principal, bannedUntil, now);
    }
    const use = this.accounts.get(accountId, now);
    const minute = openMinute(use, allowance.perMinute, now);
    const day = openDay(use, allowance.perDay, now);
    if (isExhausted(minute) || isExhausted(day)) {
      const banEnd = this.countRefusal(principal, now);
      return banEnd === undefined ? refused({ minute, day }, now) : banned(principal, banEnd, now);
    }
    minute.used++;
    day.used++;
    const updated = this.setWindows(accountId, { minute, day }, now);
    updated.minuteUnreported++;
    updated.dayUnreported++;
    return admitted({ minute, day }, now);
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
      return authFailure(window, true, now);
    }
    use.failures = window.used += cost;
    return authFailure(window, false, now);
  }

  /** Takes over what a shared store knows of an account, to go on from there without it. */
  adoptWindows(accountId: bigint, windows: AccountWindows): void {
    this.setWindows(accountId, windows, this.clock.now());
  }

  /** Takes over a ban that a shared store imposed. */
  adoptBan({ keyId, unbans }: Principal, bannedUntil: number): void {
    const expiresAt = bannedUntil + this.settings.banMemorySeconds * 1_000;
    const conduct = { unbans, refusals: 0, refusalsUntil: 0, bans: 1, bannedUntil, expiresAt };
    this.keys.set(keyId, conduct, this.clock.now());
  }

  /** What was admitted here since the last call, for a store that is to know of it. */
  takeUnreported(): UnreportedUse[] {
    const taken: UnreportedUse[] = [];
    for (const [accountId, use] of this.accounts.entries(this.clock.now())) {
      const { minuteEndsAt, minuteUnreported: minute, dayEndsAt, dayUnreported: day } = use;
      if (day > 0) {
        taken.push({ accountId, minuteEndsAt, minute, dayEndsAt, day });
        use.minuteUnreported = 0;
        use.dayUnreported = 0;
      }
    }
    return taken;
  }

  private setWindows(accountId: bigint, { minute, day }: AccountWindows, now: number): AccountUse {
    let use = this.accounts.get(accountId, now);
    if (use?.minuteEndsAt !== minute.endsAt || use.dayEndsAt !== day.endsAt) {
      use = {
        minuteEndsAt: minute.endsAt,
        minuteUsed: 0,
        dayEndsAt: day.endsAt,
        dayUsed: 0,
        minuteUnreported: 0,
        dayUnreported: use?.dayEndsAt === day.endsAt ? use.dayUnreported : 0,
        expiresAt: Math.max(minute.endsAt, day.endsAt),
      };
      this.accounts.set(accountId, use, now);
    }
    use.minuteUsed = minute.used;
    use.dayUsed = day.used;
    return use;
  }

  /** What a key did since its ban was lifted, if it ever was. */
  private conductOf({ keyId, unbans }: Principal, now: number): KeyConduct | undefined {
    const conduct = this.keys.get(keyId, now);
    return conduct !== undefined && conduct.unbans >= unbans ? conduct : undefined;
  }

  /** Notes a refusal of a key. @returns when its ban ends, if this refusal is one too many. */
  private countRefusal(principal: Principal, now: number): number | undefined {
    const { banWindowSeconds, banDurationsSeconds, banMemorySeconds } = this.settings;
    const { keyId, allowance, unbans } = principal;
    const conduct = this.conductOf(principal, now) ?? {
      unbans,
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
      this.watch.noteBan(principal, conduct.bannedUntil);
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
