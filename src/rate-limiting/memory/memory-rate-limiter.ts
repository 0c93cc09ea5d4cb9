import type { RateLimitSettings } from '../rate-limit-settings';
import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Principal } from '../../shared/domain/principal';
import { type RateLimitDecision, RateLimiter, type RateLimitUsage } from '../domain/rate-limiter';
import {
  type AccountWindows,
  createAdmittedDecision,
  createAuthFailureDecision,
  createBannedDecision,
  isExhausted,
  MINUTE_MS,
  createRejectedDecision,
  type Window,
} from '../domain/windows';
import { getClientNetwork } from '../client-network';
import { AccountUsage, type PendingUsage, type SharedCountResult } from './account-usage';

/** The maximum number of entries of each kind: 27 MB of accounts, for example. */
const CAPACITY = 100_000;

/** Times are from the monotonic clock, so that setting the system clock neither shortens nor extends a ban. */
interface Penalty {
  /** How many times the key had been unbanned when the penalty was recorded. */
  readonly unbanCount: number;
  rejections: number;
  rejectionsUntil: number;
  bans: number;
  bannedUntil: number;
  expiresAt: number;
}

/** Times are from the monotonic clock. */
interface AuthFailures {
  count: number;
  readonly expiresAt: number;
}

/** Keeps the rate limits of a single replica in memory. */
export class MemoryRateLimiter extends RateLimiter {
  private readonly accounts: ExpiringMap<bigint, AccountUsage>;
  private readonly penalties: ExpiringMap<bigint, Penalty>;
  private readonly authFailures: ExpiringMap<string, AuthFailures>;

  constructor(
    private readonly clock: Clock,
    private readonly settings: RateLimitSettings,
    capacity: number = CAPACITY,
  ) {
    super();
    this.accounts = new ExpiringMap(capacity);
    this.penalties = new ExpiringMap(capacity);
    this.authFailures = new ExpiringMap(capacity);
  }

  /** The number of accounts, keys and client networks in memory. */
  get size(): number {
    return this.accounts.size + this.penalties.size + this.authFailures.size;
  }

  countRequest(principal: Principal): RateLimitDecision {
    const now = this.clock.now();
    const { accountId, allowance } = principal;
    const monotonicNow = this.clock.monotonic();
    const remainingBanMs = this.getRemainingBanMs(principal, monotonicNow);
    if (remainingBanMs > 0) {
      return createBannedDecision(principal, now + remainingBanMs, now);
    }
    const usage = this.accounts.get(accountId, now) ?? new AccountUsage(accountId);
    const windows = usage.getWindows(allowance, now);
    if (isExhausted(windows.minute) || isExhausted(windows.day)) {
      const banMs = this.countRejection(principal, monotonicNow);
      if (banMs === undefined) {
        return createRejectedDecision(windows, now);
      }
      this.monitor.recordBan(principal, now + banMs);
      return createBannedDecision(principal, now + banMs, now);
    }
    usage.admit(now);
    this.storeUsage(accountId, usage, now);
    return createAdmittedDecision(usage.getWindows(allowance, now), now);
  }

  readUsage(principal: Principal): RateLimitUsage {
    const [now, monotonicNow] = [this.clock.now(), this.clock.monotonic()];
    const remainingBanMs = this.getRemainingBanMs(principal, monotonicNow);
    return {
      windows: this.getWindows(principal),
      bannedUntil: remainingBanMs > 0 ? now + remainingBanMs : undefined,
      readAt: now,
    };
  }

  countAuthFailure(ip: string): RateLimitDecision {
    const network = getClientNetwork(ip);
    const monotonicNow = this.clock.monotonic();
    const failures = this.getAuthFailures(network, monotonicNow);
    const isRejected = failures.count >= this.settings.authFailuresPerMinute;
    if (!isRejected) {
      failures.count++;
      this.authFailures.set(network, failures, monotonicNow);
    }
    return this.decideAuthFailure(failures, monotonicNow, isRejected);
  }

  readAuthFailures(ip: string): RateLimitDecision {
    const monotonicNow = this.clock.monotonic();
    return this.decideAuthFailure(this.getAuthFailures(getClientNetwork(ip), monotonicNow), monotonicNow, false);
  }

  /** See AccountUsage.sync. */
  syncWindows(accountId: bigint, shared: SharedCountResult): number {
    const now = this.clock.now();
    const usage = this.accounts.get(accountId, now) ?? new AccountUsage(accountId);
    const confirmed = usage.sync(shared, now);
    this.storeUsage(accountId, usage, now);
    return confirmed;
  }

  /** Returns the windows of an account as known to this replica. */
  getWindows({ accountId, allowance }: Principal): AccountWindows {
    const now = this.clock.now();
    return (this.accounts.get(accountId, now) ?? new AccountUsage(accountId)).getWindows(allowance, now);
  }

  /** See AccountUsage.deferReport. */
  deferReport(accountId: bigint, admissions: number): (outcome: SharedCountResult | undefined) => void {
    return this.accounts.get(accountId, this.clock.now())?.deferReport(admissions) ?? (() => undefined);
  }

  /** Returns the usage of an account to report to the shared store. */
  getPendingUsage(accountId: bigint): PendingUsage | undefined {
    return this.accounts.get(accountId, this.clock.now())?.getPendingUsage();
  }

  /** Returns the usage of all accounts to report to the shared store. */
  *getAllPendingUsage(): Iterable<PendingUsage> {
    for (const [, usage] of this.accounts.entries(this.clock.now())) {
      const pending = usage.getPendingUsage();
      if (pending !== undefined) {
        yield pending;
      }
    }
  }

  /** Stores the failed authentications that the shared store counted for a client IP address. */
  storeAuthFailures(ip: string, { used, endsAt }: Window): void {
    const monotonicNow = this.clock.monotonic();
    const expiresAt = monotonicNow + endsAt - this.clock.now();
    this.authFailures.set(getClientNetwork(ip), { count: used, expiresAt }, monotonicNow);
  }

  /** Stores a ban that the shared store imposed. */
  storeBan({ keyId, unbanCount }: Principal, remainingBanMs: number): void {
    const monotonicNow = this.clock.monotonic();
    const bannedUntil = monotonicNow + remainingBanMs;
    const expiresAt = bannedUntil + this.settings.banMemorySeconds * 1_000;
    this.penalties.set(
      keyId,
      { unbanCount, rejections: 0, rejectionsUntil: -Infinity, bans: 1, bannedUntil, expiresAt },
      monotonicNow,
    );
  }

  private getAuthFailures(network: string, monotonicNow: number): AuthFailures {
    return this.authFailures.get(network, monotonicNow) ?? { count: 0, expiresAt: monotonicNow + MINUTE_MS };
  }

  private decideAuthFailure(
    { count, expiresAt }: AuthFailures,
    monotonicNow: number,
    isRejected: boolean,
  ): RateLimitDecision {
    const now = this.clock.now();
    const window = { limit: this.settings.authFailuresPerMinute, used: count, endsAt: now + expiresAt - monotonicNow };
    return createAuthFailureDecision(window, isRejected, now);
  }

  private storeUsage(accountId: bigint, usage: AccountUsage, now: number): void {
    if (this.accounts.get(accountId, now) !== usage) {
      this.accounts.set(accountId, usage, now);
    }
  }

  /** Returns how long the key remains banned; 0 or negative if it is not banned. */
  private getRemainingBanMs(principal: Principal, monotonicNow: number): number {
    return (this.findPenalty(principal, monotonicNow)?.bannedUntil ?? -Infinity) - monotonicNow;
  }

  /** Returns the penalty of a key, unless the key has been unbanned since. */
  private findPenalty({ keyId, unbanCount }: Principal, monotonicNow: number): Penalty | undefined {
    const penalty = this.penalties.get(keyId, monotonicNow);
    return penalty !== undefined && penalty.unbanCount >= unbanCount ? penalty : undefined;
  }

  /** Counts a rejected request. @returns the duration of the ban in ms if this rejection causes one */
  private countRejection(principal: Principal, monotonicNow: number): number | undefined {
    const { banWindowSeconds, banDurationsSeconds, banMemorySeconds } = this.settings;
    const { keyId, allowance, unbanCount } = principal;
    const penalty = this.findPenalty(principal, monotonicNow) ?? {
      unbanCount,
      rejections: 0,
      rejectionsUntil: -Infinity,
      bans: 0,
      bannedUntil: -Infinity,
      expiresAt: 0,
    };
    if (penalty.rejectionsUntil <= monotonicNow) {
      penalty.rejections = 0;
      penalty.rejectionsUntil = monotonicNow + banWindowSeconds * 1_000;
    }
    penalty.rejections++;
    let banMs: number | undefined;
    if (penalty.rejections > allowance.perMinute) {
      const isRepeated = monotonicNow < penalty.bannedUntil + banMemorySeconds * 1_000;
      penalty.bans = isRepeated ? penalty.bans + 1 : 1;
      banMs = (banDurationsSeconds[Math.min(penalty.bans, banDurationsSeconds.length) - 1] ?? 0) * 1_000;
      penalty.bannedUntil = monotonicNow + banMs;
      penalty.rejectionsUntil = -Infinity;
    }
    penalty.expiresAt = Math.max(penalty.rejectionsUntil, penalty.bannedUntil + banMemorySeconds * 1_000);
    this.penalties.set(keyId, penalty, monotonicNow);
    return banMs;
  }
}
