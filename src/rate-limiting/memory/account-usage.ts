import { type Allowance, type WindowDefinition, type WindowName, WINDOWS } from '../../shared/domain/allowance';
import type { AccountWindows, Window } from '../domain/rate-limiter';
import { getEnd, mapWindows } from '../domain/windows';

/** What one replica has admitted in each window, and when the window ends, in ms since the epoch. It may be over. */
export type KnownUsage = Readonly<Record<WindowName, { readonly endsAt: number; readonly admitted: number }>>;

/** The usage of one window as known to this replica. */
class WindowUsage {
  /** The requests that this replica admitted. */
  admitted = 0;
  /** At least `admitted`, and the highest usage that the shared store reported. Every request in it was admitted. */
  used = 0;

  constructor(
    private readonly definition: WindowDefinition,
    public endsAt: number,
  ) {}

  /** A window that ends later than a new one would was opened before the clock was set back. */
  isOpen(now: number): boolean {
    return this.endsAt > now && this.endsAt <= now + this.definition.lengthMs;
  }

  /** Returns the window that is open now. */
  getOpen(now: number): WindowUsage {
    return this.isOpen(now) ? this : new WindowUsage(this.definition, getEnd(this.definition, now));
  }

  /** Returns the window that a reply of the shared store belongs to. If two windows are open, the one that ends first remains. */
  align({ endsAt }: Window, now: number): WindowUsage {
    if (endsAt <= now || !this.isOpen(now)) {
      return new WindowUsage(this.definition, endsAt);
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
  private windows = mapWindows((definition) => new WindowUsage(definition, 0));

  get expiresAt(): number {
    return Math.max(...WINDOWS.map(({ name }) => this.windows[name].endsAt));
  }

  /** Returns the windows. Those that have ended are replaced by new ones. */
  getWindows(allowance: Allowance, now: number): AccountWindows {
    return mapWindows(({ name, limit }) => {
      const { used, endsAt } = this.windows[name].getOpen(now);
      return { limit: allowance[limit], used, endsAt };
    });
  }

  /** Returns what the shared store needs if it has lost usage. */
  describe(now: number): KnownUsage {
    return mapWindows(({ name }) => {
      const window = this.windows[name];
      return { endsAt: window.endsAt, admitted: window.isOpen(now) ? window.admitted : 0 };
    });
  }

  /** Counts a request that this replica admits without the shared store. */
  admit(now: number): void {
    this.windows = mapWindows(({ name }) => {
      const window = this.windows[name].getOpen(now);
      window.admitted++;
      window.used++;
      return window;
    });
  }

  /**
   * Adopts a reply of the shared store.
   * @param admitted how many requests the store admitted
   * @returns how many of them may pass, which is fewer if the store has lost usage, and the windows after them
   */
  sync(admitted: number, shared: AccountWindows, now: number): { passed: number; windows: AccountWindows } {
    const aligned = mapWindows(({ name }) => this.windows[name].align(shared[name], now));
    const left = WINDOWS.map(({ name }) => shared[name].limit - aligned[name].admitted);
    const passed = Math.max(0, Math.min(admitted, ...left));
    const windows = mapWindows(({ name }): Window => {
      const [own, { limit, used }] = [aligned[name], shared[name]];
      own.admitted += passed;
      own.used = Math.max(own.used, used, own.admitted);
      return { limit, used: Math.max(used, own.admitted), endsAt: own.endsAt };
    });
    // A window without requests is not open yet, and one that ended before the reply arrived must not replace the next one.
    this.windows = mapWindows(({ name }) => {
      const own = aligned[name];
      return own.used > 0 && own.isOpen(now) ? own : this.windows[name];
    });
    return { passed, windows };
  }
}
