import type { Allowance } from '../../shared/domain/allowance';
import { type AccountWindows, getEndOfDay, MINUTE_MS, type Window } from '../domain/windows';

/** Requests of an account that this replica admitted and the shared store has not acknowledged yet. */
export interface PendingUsage {
  readonly accountId: bigint;
  readonly minuteEndsAt: number;
  readonly minuteCount: number;
  readonly dayEndsAt: number;
  readonly dayCount: number;
  /** Identifies a sequence of admissions. The store merges each admission once, even if it is reported several times. */
  readonly sequence: number;
  /** The positions in the sequence before and after these admissions. */
  readonly from: number;
  readonly to: number;
  /** Must be called once the store has merged the usage. */
  readonly acknowledge: () => void;
}

/** The response of the shared store for requests of an account. */
export interface SharedCountResult {
  /** How many of the requests the store admitted. */
  readonly admissions: number;
  readonly windows: AccountWindows;
}

let lastSequence = 0;

/** The usage of one window as known to this replica. */
class WindowUsage {
  /** Requests admitted by this replica. */
  admitted = 0;
  /** Requests admitted by this replica that the shared store is not known to have counted. */
  pending = 0;

  /** @param used the requests admitted by all replicas, as known to this one */
  constructor(
    public endsAt: number,
    public used: number,
  ) {}

  admit(count: number): void {
    this.admitted += count;
    this.used = Math.max(this.used, this.admitted);
  }

  /**
   * Merges the usage from the shared store. The usage known to this replica never decreases.
   * @param inDoubt how many pending requests the store may have counted already
   * @returns how many requests the store counted before and has lost since
   */
  sync({ endsAt, used }: Window, admissions: number, inDoubt: number, now: number): number {
    if (endsAt <= now) {
      return 0;
    }
    const lost = Math.max(0, this.used - this.pending - (used - admissions));
    this.endsAt = endsAt;
    this.used = Math.max(this.used, used + Math.max(0, this.pending - inDoubt));
    this.pending += lost;
    return lost;
  }
}

/**
 * The usage of an account as known to one replica. The replica never admits more than the allowance in a window, even when
 * the shared store loses data, returns stale data or does not respond.
 */
export class AccountUsage {
  private minute = new WindowUsage(0, 0);
  private day = new WindowUsage(0, 0);
  /** The end of the sequence of admissions to report. Admissions that the shared store counted itself are removed from the end. */
  private sequenceEnd = 0;
  /** The position in the sequence up to which the shared store has acknowledged admissions. */
  private acknowledgedUpTo = 0;
  /** Requests that this replica admitted while the outcome of their call to the shared store is unknown. */
  private inDoubt = 0;
  private readonly sequence = ++lastSequence;

  constructor(private readonly accountId: bigint) {}

  get expiresAt(): number {
    return Math.max(this.minute.endsAt, this.day.endsAt);
  }

  /** Returns the windows. Those that have ended are replaced by new ones. */
  getWindows({ perMinute, perDay }: Allowance, now: number): AccountWindows {
    const { minute, day } = this.getCurrentWindows(now);
    return {
      minute: { limit: perMinute, used: minute.used, endsAt: minute.endsAt },
      day: { limit: perDay, used: day.used, endsAt: day.endsAt },
    };
  }

  /** Counts a request that this replica admits locally. */
  admit(now: number): void {
    const { minute, day } = this.openWindows(now);
    for (const window of [minute, day]) {
      window.used++;
      window.admitted++;
      window.pending++;
    }
    this.sequenceEnd++;
  }

  /**
   * Withholds the report of the latest admissions while a call in flight may still make the shared store count them.
   * @returns a function that must be called when the call ends: with its outcome, or with undefined if it failed
   */
  deferReport(admissions: number): (outcome: SharedCountResult | undefined) => void {
    const { minute, day } = this;
    this.inDoubt += admissions;
    return (outcome) => {
      this.inDoubt -= admissions;
      const counted = Math.min(admissions, outcome?.admissions ?? 0);
      this.sequenceEnd -= counted;
      minute.pending = Math.max(0, minute.pending - counted);
      day.pending = Math.max(0, day.pending - counted);
    };
  }

  /** Returns the usage to report to the shared store; undefined if there is none. */
  getPendingUsage(): PendingUsage | undefined {
    const { minute, day, accountId, sequence, acknowledgedUpTo: from, sequenceEnd: to } = this;
    if (from === to || this.inDoubt > 0) {
      return undefined;
    }
    const [minutePending, dayPending] = [minute.pending, day.pending];
    return {
      ...{ accountId, sequence, from, to },
      ...{ minuteEndsAt: minute.endsAt, minuteCount: minutePending, dayEndsAt: day.endsAt, dayCount: dayPending },
      acknowledge: () => {
        const merged = Math.max(0, to - this.acknowledgedUpTo);
        this.acknowledgedUpTo += merged;
        minute.pending -= Math.min(minute.pending, minutePending, merged);
        day.pending -= Math.min(day.pending, dayPending, merged);
      },
    };
  }

  /**
   * Merges a response of the shared store that arrived in time.
   * @returns how many of the requests that the store admitted may pass. Fewer than all may pass if the store lost admissions
   * of this replica or has not received them yet.
   */
  sync({ admissions, windows }: SharedCountResult, now: number): number {
    const { minute, day } = this.openWindows(now);
    this.sequenceEnd += Math.max(
      minute.sync(windows.minute, admissions, this.inDoubt, now),
      day.sync(windows.day, admissions, this.inDoubt, now),
    );
    const confirmed = Math.max(
      0,
      Math.min(admissions, windows.minute.limit - minute.admitted, windows.day.limit - day.admitted),
    );
    minute.admit(confirmed);
    day.admit(confirmed);
    return confirmed;
  }

  /** Replaces windows that have ended by new ones. */
  private openWindows(now: number): { minute: WindowUsage; day: WindowUsage } {
    const current = this.getCurrentWindows(now);
    this.minute = current.minute;
    this.day = current.day;
    return current;
  }

  /** A minute window that ends later than a new one would was opened before the clock was set back; it is replaced. */
  private getCurrentWindows(now: number): { minute: WindowUsage; day: WindowUsage } {
    const { minute, day } = this;
    const midnight = getEndOfDay(now);
    return {
      minute: minute.endsAt > now && minute.endsAt <= now + MINUTE_MS ? minute : new WindowUsage(now + MINUTE_MS, 0),
      day: day.endsAt === midnight ? day : new WindowUsage(midnight, 0),
    };
  }
}
