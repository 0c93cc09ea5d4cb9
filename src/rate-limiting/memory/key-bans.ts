import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Principal } from '../../shared/domain/principal';
import type { RateLimitDecision } from '../domain/rate-limiter';
import type { RateLimitSettings } from '../settings/rate-limit-settings';

/** The rejections and bans of a key. Times are from the monotonic clock, except `exhaustedUntil`. */
class KeyRecord {
  /** The end of the exhausted window of the last rejection, which identifies the window. */
  exhaustedUntil = 0;
  /** The first rejection in that window. */
  firstRejectedAt = 0;
  rejections = 0;
  rejectionsUntil = -Infinity;
  bans = 0;
  bannedUntil = -Infinity;
  expiresAt = 0;

  /** @param unbanCount how many times the key had been unbanned when this was recorded */
  constructor(readonly unbanCount: number) {}
}

/**
 * The rejections and bans of keys as known to one replica. They are timed by the monotonic clock, so that setting the system clock neither
 * shortens nor extends a ban.
 */
export class KeyBans {
  private readonly records: ExpiringMap<bigint, KeyRecord>;

  constructor(
    private readonly settings: RateLimitSettings,
    capacity: number,
  ) {
    this.records = new ExpiringMap(capacity);
  }

  get size(): number {
    return this.records.size;
  }

  /** Returns how long the key remains banned; 0 if it is not banned. */
  getRemainingMs(principal: Principal, monotonicNow: number): number {
    return Math.max(0, (this.find(principal, monotonicNow)?.bannedUntil ?? monotonicNow) - monotonicNow);
  }

  /** Stores a ban that the shared store imposed. */
  store(principal: Principal, remainingMs: number, monotonicNow: number): void {
    const record = new KeyRecord(principal.unbanCount);
    record.bans = 1;
    record.bannedUntil = monotonicNow + remainingMs;
    this.save(principal, record, record.bannedUntil, monotonicNow);
  }

  /**
   * Counts a rejection by an exhausted window, which ends at the reset time of the decision.
   * @returns the duration of the ban in ms if this rejection causes one
   */
  countRejection(
    principal: Principal,
    { resetAt, decidedAt }: RateLimitDecision,
    monotonicNow: number,
  ): number | undefined {
    const { banGraceSeconds, banWindowSeconds, banDurationsSeconds, banMemorySeconds } = this.settings;
    const record = this.find(principal, monotonicNow) ?? new KeyRecord(principal.unbanCount);
    if (record.exhaustedUntil !== resetAt) {
      record.exhaustedUntil = resetAt;
      record.firstRejectedAt = monotonicNow;
    }
    let banMs: number | undefined;
    if (monotonicNow - record.firstRejectedAt > banGraceSeconds * 1_000) {
      if (record.rejectionsUntil <= monotonicNow) {
        record.rejections = 0;
        record.rejectionsUntil = monotonicNow + banWindowSeconds * 1_000;
      }
      record.rejections++;
      if (record.rejections > principal.allowance.perMinute) {
        const isRepeated = monotonicNow < record.bannedUntil + banMemorySeconds * 1_000;
        record.bans = isRepeated ? record.bans + 1 : 1;
        banMs = (banDurationsSeconds[Math.min(record.bans, banDurationsSeconds.length) - 1] ?? 0) * 1_000;
        record.bannedUntil = monotonicNow + banMs;
        record.rejectionsUntil = -Infinity;
      }
    }
    this.save(principal, record, monotonicNow + resetAt - decidedAt, monotonicNow);
    return banMs;
  }

  /** Returns the record of a key, unless the key has been unbanned since. */
  private find({ keyId, unbanCount }: Principal, monotonicNow: number): KeyRecord | undefined {
    const record = this.records.get(keyId, monotonicNow);
    return record !== undefined && record.unbanCount >= unbanCount ? record : undefined;
  }

  private save({ keyId }: Principal, record: KeyRecord, neededUntil: number, monotonicNow: number): void {
    const memoryMs = this.settings.banMemorySeconds * 1_000;
    record.expiresAt = Math.max(neededUntil, record.rejectionsUntil, record.bannedUntil + memoryMs);
    this.records.set(keyId, record, monotonicNow);
  }
}
