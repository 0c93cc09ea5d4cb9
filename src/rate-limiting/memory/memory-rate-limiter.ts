import type { RateLimitSettings } from '../settings/rate-limit-settings';
import type { Clock } from '../../shared/domain/clock';
import { MINUTE_MS } from '../../shared/domain/allowance';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Principal } from '../../shared/domain/principal';
import {
  type AccountWindows,
  type RateLimitDecision,
  RateLimiter,
  type RateLimitUsage,
  type Window,
} from '../domain/rate-limiter';
import {
  createAdmittedDecision,
  createAuthFailureDecision,
  createBannedDecision,
  isExhausted,
  createRejectedDecision,
} from '../domain/windows';
import { getClientNetwork } from './client-network';
import { AccountUsage, type KnownUsage } from './account-usage';
import { KeyBans } from './key-bans';

/** The maximum number of entries of each kind: 39 MB of accounts, for example. */
const CAPACITY = 100_000;

/** Times are from the monotonic clock. */
interface AuthFailures {
  count: number;
  readonly expiresAt: number;
}

/** Keeps the rate limits of a single replica in memory. */
export class MemoryRateLimiter extends RateLimiter {
  private readonly accounts: ExpiringMap<bigint, AccountUsage>;
  private readonly bans: KeyBans;
  private readonly authFailures: ExpiringMap<string, AuthFailures>;

  constructor(
    private readonly clock: Clock,
    private readonly settings: RateLimitSettings,
    capacity: number = CAPACITY,
  ) {
    super();
    this.accounts = new ExpiringMap(capacity);
    this.bans = new KeyBans(settings, capacity);
    this.authFailures = new ExpiringMap(capacity);
  }

  /** The number of accounts, keys and client networks in memory. */
  get size(): number {
    return this.accounts.size + this.bans.size + this.authFailures.size;
  }

  consume(principal: Principal): RateLimitDecision {
    const [now, monotonicNow] = [this.clock.now(), this.clock.monotonic()];
    const { accountId, allowance } = principal;
    const remainingMs = this.bans.getRemainingMs(principal, monotonicNow);
    if (remainingMs > 0) {
      return createBannedDecision(allowance, now + remainingMs, now);
    }
    const usage = this.getUsage(accountId, now);
    const windows = usage.getWindows(allowance, now);
    if (!Object.values(windows).some(isExhausted)) {
      usage.admit(now);
      this.accounts.set(accountId, usage, now);
      return createAdmittedDecision(usage.getWindows(allowance, now), now);
    }
    // So that an account in use is not the next one that is evicted.
    this.accounts.set(accountId, usage, now);
    const rejected = createRejectedDecision(windows, now);
    const banMs = this.bans.countRejection(principal, rejected, monotonicNow);
    if (banMs === undefined) {
      return rejected;
    }
    this.monitor.recordBan(principal, now + banMs);
    return createBannedDecision(allowance, now + banMs, now);
  }

  readUsage(principal: Principal): RateLimitUsage {
    const now = this.clock.now();
    const remainingMs = this.bans.getRemainingMs(principal, this.clock.monotonic());
    return {
      windows: this.getUsage(principal.accountId, now).getWindows(principal.allowance, now),
      bannedUntil: remainingMs > 0 ? now + remainingMs : undefined,
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

  /** See AccountUsage.describe. */
  describe(accountId: bigint): KnownUsage {
    const now = this.clock.now();
    return this.getUsage(accountId, now).describe(now);
  }

  /** See AccountUsage.sync. */
  sync(accountId: bigint, admitted: number, shared: AccountWindows, at: number): ReturnType<AccountUsage['sync']> {
    const now = this.clock.now();
    const usage = this.getUsage(accountId, now);
    const result = usage.sync(admitted, shared, at, now);
    this.accounts.set(accountId, usage, now);
    return result;
  }

  /** Stores the failed authentications that the shared store counted for a client network, and those that only this replica counted. */
  storeAuthFailures(network: string, { used, endsAt, limit }: Window): void {
    const monotonicNow = this.clock.monotonic();
    const known = this.getAuthFailures(network, monotonicNow);
    const count = Math.min(limit, Math.max(known.count + 1, used));
    const expiresAt = Math.min(known.expiresAt, monotonicNow + endsAt - this.clock.now());
    this.authFailures.set(network, { count, expiresAt }, monotonicNow);
  }

  /** Stores a ban that the shared store imposed. */
  storeBan(principal: Principal, remainingMs: number): void {
    this.bans.store(principal, remainingMs, this.clock.monotonic());
  }

  private getUsage(accountId: bigint, now: number): AccountUsage {
    return this.accounts.get(accountId, now) ?? new AccountUsage();
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
}
