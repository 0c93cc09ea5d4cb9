import type { Allowance } from '../../shared/domain/allowance';
import { type AccountWindows, endOfDay, MINUTE_MS, type Window } from '../domain/windows';

/** What this replica admitted of an account, and the store that all replicas share has not acknowledged yet. */
export interface PendingUsage {
  readonly accountId: bigint;
  readonly minuteEndsAt: number;
  readonly minute: number;
  readonly dayEndsAt: number;
  readonly day: number;
  /** Names a sequence of admissions; a store that has merged it up to `to`, by whichever call, does not merge that again. */
  readonly sequence: string;
  readonly from: number;
  readonly to: number;
  /** To be called once the store has merged it. */
  readonly acknowledge: () => void;
}

/** What the shared store replied about some requests of an account. */
export interface SharedUsage {
  /** How many of the requests it counted as admitted. */
  readonly admissions: number;
  readonly windows: AccountWindows;
}

let sequences = 0;

/** What this replica knows of the usage of one window. */
class WindowUsage {
  /** Admitted by this replica. */
  admitted = 0;
  /** Admitted by this replica, as far as the shared store is not known to have counted it. */
  pending = 0;

  /** @param used by all replicas, as far as this one knows */
  constructor(
    public endsAt: number,
    public used: number,
  ) {}

  admit(count: number): void {
    this.admitted += count;
    this.used = Math.max(this.used, this.admitted);
  }

  /**
   * Takes over what the shared store knows, as far as it is more than what is known here.
   * @param inDoubt how much of what is pending the store may have counted
   * @returns how much of what it knew before the store has lost
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
 * The usage of an account, as one replica knows it. Never lets that replica admit more than the allowance in a window, whatever
 * the shared store replies, forgets or fails to reply.
 */
export class AccountUsage {
  private minute = new WindowUsage(0, 0);
  private day = new WindowUsage(0, 0);
  /** How much was ever pending, and how much of it the shared store has acknowledged. */
  private pendingEver = 0;
  private acknowledged = 0;
  /** Admitted here for calls whose outcome in the shared store is not known yet. */
  private inDoubt = 0;
  private readonly sequence = `${++sequences}`;

  constructor(private readonly accountId: bigint) {}

  get expiresAt(): number {
    return Math.max(this.minute.endsAt, this.day.endsAt);
  }

  /** The windows as they are, or new ones in place of those that have ended. */
  windows({ perMinute, perDay }: Allowance, now: number): AccountWindows {
    const { minute, day } = this.current(now);
    return {
      minute: { limit: perMinute, used: minute.used, endsAt: minute.endsAt },
      day: { limit: perDay, used: day.used, endsAt: day.endsAt },
    };
  }

  /** Counts a request that this replica admits without the shared store. */
  admit(now: number): void {
    const { minute, day } = this.open(now);
    for (const window of [minute, day]) {
      window.used++;
      window.admitted++;
      window.pending++;
    }
    this.pendingEver++;
  }

  /**
   * Keeps the latest admissions from being reported while a call for them may still be counted by the shared store.
   * @returns to be called with the outcome of the call, undefined when it failed
   */
  hold(admissions: number): (outcome: SharedUsage | undefined) => void {
    const { minute, day } = this;
    this.inDoubt += admissions;
    return (outcome) => {
      this.inDoubt -= admissions;
      const counted = Math.min(admissions, outcome?.admissions ?? 0);
      this.pendingEver -= counted;
      minute.pending = Math.max(0, minute.pending - counted);
      day.pending = Math.max(0, day.pending - counted);
    };
  }

  /** What is to be reported to the shared store, if anything is. */
  pending(): PendingUsage | undefined {
    const { minute, day, accountId, sequence, acknowledged: from, pendingEver: to } = this;
    if (from === to || this.inDoubt > 0) {
      return undefined;
    }
    const [minutePending, dayPending] = [minute.pending, day.pending];
    return {
      ...{ accountId, sequence, from, to },
      ...{ minuteEndsAt: minute.endsAt, minute: minutePending, dayEndsAt: day.endsAt, day: dayPending },
      acknowledge: () => {
        const merged = Math.max(0, to - this.acknowledged);
        this.acknowledged += merged;
        minute.pending -= Math.min(minute.pending, minutePending, merged);
        day.pending -= Math.min(day.pending, dayPending, merged);
      },
    };
  }

  /**
   * Takes over what the shared store replied in time.
   * @returns how many of the requests that it admitted may pass: all, unless it has lost or not yet heard what this replica admitted
   */
  sync({ admissions, windows }: SharedUsage, now: number): number {
    const { minute, day } = this.open(now);
    this.pendingEver += Math.max(
      minute.sync(windows.minute, admissions, this.inDoubt, now),
      day.sync(windows.day, admissions, this.inDoubt, now),
    );
    const passing = Math.max(
      0,
      Math.min(admissions, windows.minute.limit - minute.admitted, windows.day.limit - day.admitted),
    );
    minute.admit(passing);
    day.admit(passing);
    return passing;
  }

  /** Opens windows in place of those that have ended. */
  private open(now: number): { minute: WindowUsage; day: WindowUsage } {
    const current = this.current(now);
    this.minute = current.minute;
    this.day = current.day;
    return current;
  }

  /** A minute that ends later than a new one would is left from a clock set back since. */
  private current(now: number): { minute: WindowUsage; day: WindowUsage } {
    const { minute, day } = this;
    const midnight = endOfDay(now);
    return {
      minute: minute.endsAt > now && minute.endsAt <= now + MINUTE_MS ? minute : new WindowUsage(now + MINUTE_MS, 0),
      day: day.endsAt === midnight ? day : new WindowUsage(midnight, 0),
    };
  }
}
