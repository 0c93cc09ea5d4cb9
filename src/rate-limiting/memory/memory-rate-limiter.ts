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
  /** How many of those were admitted here and reported nowhere; see drainPendingUsage. */
  minutePending: number;
  dayPending: number;
  expiresAt: number;
}

/** Times by the monotonic clock, so that setting the clock neither ends nor prolongs a ban. */
interface Penalty {
  /** How many times the ban of the key had been lifted by then. */
  readonly unbanCount: number;
  refusals: number;
  refusalsUntil: number;
  bans: number;
  bannedUntil: number;
  expiresAt: number;
}

/** Times by the monotonic clock. */
interface AddressUse {
  failures: number;
  readonly expiresAt: number;
}

/** What a limiter in memory admitted of one account while nobody else could be told. */
export interface PendingUsage {
  readonly accountId: bigint;
  readonly minuteEndsAt: number;
  readonly minute: number;
  readonly dayEndsAt: number;
  readonly day: number;
}

/** The limiter of a single replica, in its memory. */
export class MemoryRateLimiter extends RateLimiter {
  private readonly accounts: ExpiringMap<bigint, AccountUse>;
  private readonly keys: ExpiringMap<bigint, Penalty>;
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
    const elapsed = this.clock.monotonic();
    const banLeftMs = (this.penaltyOf(principal, elapsed)?.bannedUntil ?? -Infinity) - elapsed;
    if (banLeftMs > 0) {
      return banned(principal, now + banLeftMs, now);
    }
    const use = this.accounts.get(accountId, now);
    const minute = openMinute(use, allowance.perMinute, now);
    const day = openDay(use, allowance.perDay, now);
    if (isExhausted(minute) || isExhausted(day)) {
      const banMs = this.countRefusal(principal, elapsed);
      if (banMs === undefined) {
        return refused({ minute, day }, now);
      }
      this.events.recordBan(principal, now + banMs);
      return banned(principal, now + banMs, now);
    }
    minute.used++;
    day.used++;
    const updated = this.setWindows(accountId, { minute, day }, now);
    updated.minutePending++;
    updated.dayPending++;
    return admitted({ minute, day }, now);
  }

  countAuthFailure(address: string, cost: 0 | 1): RateDecision {
    const now = this.clock.now();
    const elapsed = this.clock.monotonic();
    const network = networkOf(address);
    let use = this.addresses.get(network, elapsed);
    if (use === undefined) {
      use = { failures: 0, expiresAt: elapsed + MINUTE_MS };
      if (cost > 0) {
        this.addresses.set(network, use, elapsed);
      }
    }
    const endsAt = now + use.expiresAt - elapsed;
    const window = { limit: this.settings.authFailuresPerMinute, used: use.failures, endsAt };
    if (cost > 0 && isExhausted(window)) {
      return authFailure(window, true, now);
    }
    use.failures = window.used += cost;
    return authFailure(window, false, now);
  }

  /** Takes over what a shared store knows of an account, to go on from there without it. */
  syncWindows(accountId: bigint, windows: AccountWindows): void {
    this.setWindows(accountId, windows, this.clock.now());
  }

  /** Takes over a ban that a shared store imposed. */
  adoptBan({ keyId, unbanCount }: Principal, banLeftMs: number): void {
    const elapsed = this.clock.monotonic();
    const bannedUntil = elapsed + banLeftMs;
    const expiresAt = bannedUntil + this.settings.banMemorySeconds * 1_000;
    this.keys.set(
      keyId,
      { unbanCount, refusals: 0, refusalsUntil: -Infinity, bans: 1, bannedUntil, expiresAt },
      elapsed,
    );
  }

  /** What was admitted here since the last call, for a store that is to know of it. */
  drainPendingUsage(): PendingUsage[] {
    const taken: PendingUsage[] = [];
    for (const [accountId, use] of this.accounts.entries(this.clock.now())) {
      const { minuteEndsAt, minutePending: minute, dayEndsAt, dayPending: day } = use;
      if (day > 0) {
        taken.push({ accountId, minuteEndsAt, minute, dayEndsAt, day });
        use.minutePending = 0;
        use.dayPending = 0;
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
        minutePending: 0,
        dayPending: use?.dayEndsAt === day.endsAt ? use.dayPending : 0,
        expiresAt: Math.max(minute.endsAt, day.endsAt),
      };
      this.accounts.set(accountId, use, now);
    }
    use.minuteUsed = minute.used;
    use.dayUsed = day.used;
    return use;
  }

  /** What a key did since its ban was lifted, if it ever was. */
  private penaltyOf({ keyId, unbanCount }: Principal, elapsed: number): Penalty | undefined {
    const penalty = this.keys.get(keyId, elapsed);
    return penalty !== undefined && penalty.unbanCount >= unbanCount ? penalty : undefined;
  }

  /** Counts a refusal of a key. @returns for how long the key is banned, if this refusal is one too many */
  private countRefusal(principal: Principal, elapsed: number): number | undefined {
    const { banWindowSeconds, banDurationsSeconds, banMemorySeconds } = this.settings;
    const { keyId, allowance, unbanCount } = principal;
    const penalty = this.penaltyOf(principal, elapsed) ?? {
      unbanCount,
      refusals: 0,
      refusalsUntil: -Infinity,
      bans: 0,
      bannedUntil: -Infinity,
      expiresAt: 0,
    };
    if (penalty.refusalsUntil <= elapsed) {
      penalty.refusals = 0;
      penalty.refusalsUntil = elapsed + banWindowSeconds * 1_000;
    }
    penalty.refusals++;
    let banMs: number | undefined;
    if (penalty.refusals > allowance.perMinute) {
      const isRepeated = elapsed < penalty.bannedUntil + banMemorySeconds * 1_000;
      penalty.bans = isRepeated ? penalty.bans + 1 : 1;
      banMs = (banDurationsSeconds[Math.min(penalty.bans, banDurationsSeconds.length) - 1] ?? 0) * 1_000;
      penalty.bannedUntil = elapsed + banMs;
      penalty.refusalsUntil = -Infinity;
    }
    penalty.expiresAt = Math.max(penalty.refusalsUntil, penalty.bannedUntil + banMemorySeconds * 1_000);
    this.keys.set(keyId, penalty, elapsed);
    return banMs;
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
