import type { RateLimitSettings } from '../rate-limit-settings';
import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Principal } from '../../shared/domain/principal';
import { type RateLimitDecision, RateLimiter, type RateLimitUsage } from '../domain/rate-limiter';
import {
  type AccountWindows,
  admitted,
  authFailure,
  banned,
  isExhausted,
  MINUTE_MS,
  rejected,
  type Window,
} from '../domain/windows';
import { toNetwork } from '../network';
import { AccountUsage, type PendingUsage, type SharedUsage } from './account-usage';

/** The maximum number of entries of each kind: about 20 MB. */
const CAPACITY = 100_000;

/** Times are of the monotonic clock, so that setting the system clock neither shortens nor extends a ban. */
interface Penalty {
  /** How often the key had been unbanned when the penalty was recorded. */
  readonly unbanCount: number;
  rejections: number;
  rejectionsUntil: number;
  bans: number;
  bannedUntil: number;
  expiresAt: number;
}

/** Times are of the monotonic clock. */
interface AddressUse {
  failures: number;
  readonly expiresAt: number;
}

/** Keeps the rate limits of a single replica in memory. */
export class MemoryRateLimiter extends RateLimiter {
  private readonly accounts: ExpiringMap<bigint, AccountUsage>;
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

  /** The number of accounts, keys and client networks in memory. */
  get size(): number {
    return this.accounts.size + this.keys.size + this.addresses.size;
  }

  countRequest(principal: Principal): RateLimitDecision {
    const now = this.clock.now();
    const { accountId, allowance } = principal;
    const elapsed = this.clock.monotonic();
    const banLeftMs = this.getBanLeftMs(principal, elapsed);
    if (banLeftMs > 0) {
      return banned(principal, now + banLeftMs, now);
    }
    const usage = this.accounts.get(accountId, now) ?? new AccountUsage(accountId);
    const windows = usage.windows(allowance, now);
    if (isExhausted(windows.minute) || isExhausted(windows.day)) {
      const banMs = this.countRejection(principal, elapsed);
      if (banMs === undefined) {
        return rejected(windows, now);
      }
      this.events.recordBan(principal, now + banMs);
      return banned(principal, now + banMs, now);
    }
    usage.admit(now);
    this.remember(accountId, usage, now);
    return admitted(usage.windows(allowance, now), now);
  }

  readUsage(principal: Principal): RateLimitUsage {
    const [now, elapsed] = [this.clock.now(), this.clock.monotonic()];
    const banLeftMs = this.getBanLeftMs(principal, elapsed);
    return {
      windows: this.getWindows(principal),
      bannedUntil: banLeftMs > 0 ? now + banLeftMs : undefined,
      readAt: now,
    };
  }

  countAuthFailure(address: string, cost: 0 | 1): RateLimitDecision {
    const now = this.clock.now();
    const elapsed = this.clock.monotonic();
    const network = toNetwork(address);
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

  /** See AccountUsage.sync. */
  syncWindows(accountId: bigint, shared: SharedUsage): number {
    const now = this.clock.now();
    const usage = this.accounts.get(accountId, now) ?? new AccountUsage(accountId);
    const passing = usage.sync(shared, now);
    this.remember(accountId, usage, now);
    return passing;
  }

  /** Returns the windows of an account as known here. */
  getWindows({ accountId, allowance }: Principal): AccountWindows {
    const now = this.clock.now();
    return (this.accounts.get(accountId, now) ?? new AccountUsage(accountId)).windows(allowance, now);
  }

  /** See AccountUsage.hold. */
  hold(accountId: bigint, admissions: number): (outcome: SharedUsage | undefined) => void {
    return this.accounts.get(accountId, this.clock.now())?.hold(admissions) ?? (() => undefined);
  }

  /** Returns the usage of an account to report to the shared store. */
  pendingUsage(accountId: bigint): PendingUsage | undefined {
    return this.accounts.get(accountId, this.clock.now())?.pending();
  }

  /** Returns the usage of all accounts to report to the shared store. */
  *allPendingUsage(): Iterable<PendingUsage> {
    for (const [, usage] of this.accounts.entries(this.clock.now())) {
      const pending = usage.pending();
      if (pending !== undefined) {
        yield pending;
      }
    }
  }

  /** Stores the failed authentications that the shared store counted for a client IP address. */
  adoptAuthFailures(address: string, { used, endsAt }: Window): void {
    const elapsed = this.clock.monotonic();
    const expiresAt = elapsed + endsAt - this.clock.now();
    this.addresses.set(toNetwork(address), { failures: used, expiresAt }, elapsed);
  }

  /** Stores a ban that the shared store imposed. */
  adoptBan({ keyId, unbanCount }: Principal, banLeftMs: number): void {
    const elapsed = this.clock.monotonic();
    const bannedUntil = elapsed + banLeftMs;
    const expiresAt = bannedUntil + this.settings.banMemorySeconds * 1_000;
    this.keys.set(
      keyId,
      { unbanCount, rejections: 0, rejectionsUntil: -Infinity, bans: 1, bannedUntil, expiresAt },
      elapsed,
    );
  }

  private remember(accountId: bigint, usage: AccountUsage, now: number): void {
    if (this.accounts.get(accountId, now) !== usage) {
      this.accounts.set(accountId, usage, now);
    }
  }

  /** Returns how long the key remains banned; 0 or negative if it is not banned. */
  private getBanLeftMs(principal: Principal, elapsed: number): number {
    return (this.findPenalty(principal, elapsed)?.bannedUntil ?? -Infinity) - elapsed;
  }

  /** Returns the penalty of a key, unless the key has been unbanned since. */
  private findPenalty({ keyId, unbanCount }: Principal, elapsed: number): Penalty | undefined {
    const penalty = this.keys.get(keyId, elapsed);
    return penalty !== undefined && penalty.unbanCount >= unbanCount ? penalty : undefined;
  }

  /** Counts a rejected request. @returns the duration of the ban in ms if this rejection causes one */
  private countRejection(principal: Principal, elapsed: number): number | undefined {
    const { banWindowSeconds, banDurationsSeconds, banMemorySeconds } = this.settings;
    const { keyId, allowance, unbanCount } = principal;
    const penalty = this.findPenalty(principal, elapsed) ?? {
      unbanCount,
      rejections: 0,
      rejectionsUntil: -Infinity,
      bans: 0,
      bannedUntil: -Infinity,
      expiresAt: 0,
    };
    if (penalty.rejectionsUntil <= elapsed) {
      penalty.rejections = 0;
      penalty.rejectionsUntil = elapsed + banWindowSeconds * 1_000;
    }
    penalty.rejections++;
    let banMs: number | undefined;
    if (penalty.rejections > allowance.perMinute) {
      const isRepeated = elapsed < penalty.bannedUntil + banMemorySeconds * 1_000;
      penalty.bans = isRepeated ? penalty.bans + 1 : 1;
      banMs = (banDurationsSeconds[Math.min(penalty.bans, banDurationsSeconds.length) - 1] ?? 0) * 1_000;
      penalty.bannedUntil = elapsed + banMs;
      penalty.rejectionsUntil = -Infinity;
    }
    penalty.expiresAt = Math.max(penalty.rejectionsUntil, penalty.bannedUntil + banMemorySeconds * 1_000);
    this.keys.set(keyId, penalty, elapsed);
    return banMs;
  }
}
