import type { RateLimitSettings } from '../rate-limit-settings';
import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Principal } from '../../shared/domain/principal';
import { type RateDecision, RateLimiter, type RateLimitUsage } from '../domain/rate-limiter';
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

/** Entries kept of each kind: about 20 MB at most. */
const CAPACITY = 100_000;

/** Times by the monotonic clock, so that setting the clock neither ends nor prolongs a ban. */
interface Penalty {
  /** How many times the ban of the key had been lifted by then. */
  readonly unbanCount: number;
  rejections: number;
  rejectionsUntil: number;
  bans: number;
  bannedUntil: number;
  expiresAt: number;
}

/** Times by the monotonic clock. */
interface AddressUse {
  failures: number;
  readonly expiresAt: number;
}

/** The limiter of a single replica, in its memory. */
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

  /** How many accounts, keys and addresses are remembered. */
  get size(): number {
    return this.accounts.size + this.keys.size + this.addresses.size;
  }

  countRequest(principal: Principal): RateDecision {
    const now = this.clock.now();
    const { accountId, allowance } = principal;
    const elapsed = this.clock.monotonic();
    const banLeftMs = (this.findPenalty(principal, elapsed)?.bannedUntil ?? -Infinity) - elapsed;
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
    const banLeftMs = (this.findPenalty(principal, elapsed)?.bannedUntil ?? -Infinity) - elapsed;
    return {
      windows: this.getWindows(principal),
      bannedUntil: banLeftMs > 0 ? now + banLeftMs : undefined,
      readAt: now,
    };
  }

  countAuthFailure(address: string, cost: 0 | 1): RateDecision {
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

  /** The windows of an account, as far as they are known here. */
  getWindows({ accountId, allowance }: Principal): AccountWindows {
    const now = this.clock.now();
    return (this.accounts.get(accountId, now) ?? new AccountUsage(accountId)).windows(allowance, now);
  }

  /** See AccountUsage.hold. */
  hold(accountId: bigint, admissions: number): (outcome: SharedUsage | undefined) => void {
    return this.accounts.get(accountId, this.clock.now())?.hold(admissions) ?? (() => undefined);
  }

  /** What of an account a shared store is to be told. */
  pendingUsage(accountId: bigint): PendingUsage | undefined {
    return this.accounts.get(accountId, this.clock.now())?.pending();
  }

  /** What of all accounts a shared store is to be told. */
  *allPendingUsage(): Iterable<PendingUsage> {
    for (const [, usage] of this.accounts.entries(this.clock.now())) {
      const pending = usage.pending();
      if (pending !== undefined) {
        yield pending;
      }
    }
  }

  /** Takes over what a shared store knows of an address. */
  adoptAuthFailures(address: string, { used, endsAt }: Window): void {
    const elapsed = this.clock.monotonic();
    const expiresAt = elapsed + endsAt - this.clock.now();
    this.addresses.set(toNetwork(address), { failures: used, expiresAt }, elapsed);
  }

  /** Takes over a ban that a shared store imposed. */
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

  /** What a key did since its ban was lifted, if it ever was. */
  private findPenalty({ keyId, unbanCount }: Principal, elapsed: number): Penalty | undefined {
    const penalty = this.keys.get(keyId, elapsed);
    return penalty !== undefined && penalty.unbanCount >= unbanCount ? penalty : undefined;
  }

  /** Counts a rejection of a key. @returns for how long the key is banned, if this rejection is one too many */
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
