import type { Allowance } from '../../shared/domain/allowance';
import { type AccountWindows, DAY_MS, getEndOfDay, MINUTE_MS, type Window } from '../domain/windows';

/** What one replica has admitted in its windows. */
export interface KnownUsage {
  /** The end of the minute, in ms since the epoch; 0 if none is known. */
  readonly minuteEndsAt: number;
  readonly minuteAdmitted: number;
  readonly dayAdmitted: number;
}

/** The usage of one window as known to this replica. */
class WindowUsage {
  /** The requests that this replica admitted. */
  admitted = 0;
  /** At least `admitted`, and the highest usage that the shared store reported. Every request in it was admitted. */
  used = 0;

  constructor(
    private readonly lengthMs: number,
    public endsAt: number,
  ) {}

  /** A window that ends later than a new one would was opened before the clock was set back. */
  isOpen(now: number): boolean {
    return this.endsAt > now && this.endsAt <= now + this.lengthMs;
  }

  /** Returns the window that a reply of the shared store belongs to. If two windows are open, the one that ends first remains. */
  align({ endsAt }: Window, now: number): WindowUsage {
    if (endsAt <= now || !this.isOpen(now)) {
      return new WindowUsage(this.lengthMs, endsAt);
    }
    this.endsAt = Math.min(this.endsAt, endsAt);
    return this;
  }
}

/**
 * The usage of an account as known to one replica. The replica never admits more than the allowance in a window, whether the shared store
 * or the replica itself counted the requests.
 */
export class AccountUsage {
  private minute = new WindowUsage(MINUTE_MS, 0);
  private day = new WindowUsage(DAY_MS, 0);

  get expiresAt(): number {
    return Math.max(this.minute.endsAt, this.day.endsAt);
  }

  /** Returns the windows. Those that have ended are replaced by new ones. */
  getWindows({ perMinute, perDay }: Allowance, now: number): AccountWindows {
    const [minute, day] = this.getOpenWindows(now);
    return {
      minute: { limit: perMinute, used: minute.used, endsAt: minute.endsAt },
      day: { limit: perDay, used: day.used, endsAt: day.endsAt },
    };
  }

  /** Returns what the shared store needs if it has lost usage. The minute may be over. */
  describe(now: number): KnownUsage {
    const [minute, day] = this.getOpenWindows(now);
    return { minuteEndsAt: this.minute.endsAt, minuteAdmitted: minute.admitted, dayAdmitted: day.admitted };
  }

  /** Counts a request that this replica admits without the shared store. */
  admit(now: number): void {
    [this.minute, this.day] = this.getOpenWindows(now);
    for (const window of [this.minute, this.day]) {
      window.admitted++;
      window.used++;
    }
  }

  /**
   * Adopts a reply of the shared store.
   * @param admitted how many requests the store admitted
   * @returns how many of them may pass, which is fewer if the store has lost usage, and the windows after them
   */
  sync(admitted: number, { minute, day }: AccountWindows, now: number): { passed: number; windows: AccountWindows } {
    const [ownMinute, ownDay] = [this.minute.align(minute, now), this.day.align(day, now)];
    const passed = Math.max(0, Math.min(admitted, minute.limit - ownMinute.admitted, day.limit - ownDay.admitted));
    const adopt = (own: WindowUsage, shared: Window): Window => {
      own.admitted += passed;
      own.used = Math.max(own.used, shared.used, own.admitted);
      return { limit: shared.limit, used: Math.max(shared.used, own.admitted), endsAt: own.endsAt };
    };
    const windows = { minute: adopt(ownMinute, minute), day: adopt(ownDay, day) };
    // A window without requests is not open yet, and one that ended before the reply arrived must not replace the next one.
    this.minute = ownMinute.used > 0 && ownMinute.isOpen(now) ? ownMinute : this.minute;
    this.day = ownDay.used > 0 && ownDay.isOpen(now) ? ownDay : this.day;
    return { passed, windows };
  }

  private getOpenWindows(now: number): [minute: WindowUsage, day: WindowUsage] {
    const { minute, day } = this;
    return [
      minute.isOpen(now) ? minute : new WindowUsage(MINUTE_MS, now + MINUTE_MS),
      day.isOpen(now) ? day : new WindowUsage(DAY_MS, getEndOfDay(now)),
    ];
  }
}
