import { type Allowance, type WindowName, WINDOWS } from '../../shared/domain/allowance';
import type { AccountWindows, Window } from '../domain/rate-limiter';
import { getEnd, mapWindows } from '../domain/windows';

/** What one replica has admitted in each window, and when the window ends, in ms since the epoch. It may be over. */
export type KnownUsage = Readonly<Record<WindowName, { readonly endsAt: number; readonly admitted: number }>>;

type Definition = (typeof WINDOWS)[number];

/** How long after its end a window may still be needed for a reply from before. */
const MAX_REPLY_MS = 1_000;

/** A window as known to this replica. */
interface KnownWindow {
  readonly endsAt: number;
  /** The requests that this replica admitted. */
  admitted: number;
  /** At least `admitted`, and the highest usage that the shared store reported. Every request in it was admitted. */
  used: number;
}

/**
 * The usage of an account as known to one replica. The replica never admits more than the allowance in a window, whether the shared store
 * or the replica itself counted the requests.
 */
export class AccountUsage {
  /**
   * The windows with requests. After a fault, several of one kind can be open: one that this replica has opened alone, and the next one of
   * the shared store.
   */
  private windows: Readonly<Record<WindowName, readonly KnownWindow[]>> = mapWindows(() => []);

  get expiresAt(): number {
    return Math.max(0, ...WINDOWS.flatMap(({ name }) => this.windows[name].map(({ endsAt }) => endsAt)));
  }

  /** Returns the windows. Those that have ended are replaced by new ones. */
  getWindows(allowance: Allowance, now: number): AccountWindows {
    return mapWindows((definition) => {
      const { used, endsAt } = this.findOpen(definition, now).reduce(
        (one, other) => (other.used > one.used ? other : one),
        createWindow(getEnd(definition, now)),
      );
      return { limit: allowance[definition.limit], used, endsAt };
    });
  }

  /** Returns what the shared store needs if it has lost usage. */
  describe(now: number): KnownUsage {
    return mapWindows((definition) => {
      const known = { endsAt: 0, admitted: 0 };
      for (const { endsAt, admitted } of this.findOpen(definition, now)) {
        known.endsAt = Math.max(known.endsAt, endsAt);
        known.admitted = Math.max(known.admitted, admitted);
      }
      return known;
    });
  }

  /** Counts a request that this replica admits without the shared store. */
  admit(now: number): void {
    this.windows = mapWindows((definition) => {
      const open = this.findOpen(definition, now);
      const counted = open.length > 0 ? open : [createWindow(getEnd(definition, now))];
      counted.forEach((window) => {
        window.admitted++;
        window.used++;
      });
      return this.addOthers(counted, definition, now, now);
    });
  }

  /**
   * Adopts a reply of the shared store.
   * @param admitted how many requests the store admitted
   * @param at the time of the reply, which may have taken a while until now
   * @returns how many of them may pass, which is fewer if the store has lost usage, and the windows after them
   */
  sync(admitted: number, shared: AccountWindows, at: number, now: number): { passed: number; windows: AccountWindows } {
    const aligned = mapWindows((definition) => this.align(definition, shared[definition.name], at));
    let left = admitted;
    for (const { name } of WINDOWS) {
      for (const window of aligned[name]) {
        left = Math.min(left, shared[name].limit - window.admitted);
      }
    }
    const passed = Math.max(0, left);
    const windows = mapWindows(({ name }): Window => {
      const { limit, endsAt } = shared[name];
      // The store takes back the others.
      const used = shared[name].used - (admitted - passed);
      aligned[name].forEach((window) => {
        window.admitted += passed;
        window.used = Math.max(window.used, window.admitted, window.endsAt === endsAt ? used : 0);
      });
      return aligned[name].reduce(
        (shown, window) =>
          window.admitted > shown.used ? { limit, used: window.admitted, endsAt: window.endsAt } : shown,
        { limit, used, endsAt },
      );
    });
    this.windows = mapWindows((definition) => this.addOthers(aligned[definition.name], definition, at, now));
    return { passed, windows };
  }

  /** Returns the window of the shared store, and those of this replica that end earlier. A later one ends with it. */
  private align(definition: Definition, { endsAt }: Window, at: number): readonly KnownWindow[] {
    const open = this.findOpen(definition, at);
    if (open.length === 1 && open[0]?.endsAt === endsAt) {
      return open;
    }
    const own = createWindow(endsAt);
    const earlier = open.filter((window) => window.endsAt < endsAt);
    for (const { admitted, used } of open.filter((window) => window.endsAt >= endsAt)) {
      own.admitted = Math.max(own.admitted, admitted);
      own.used = Math.max(own.used, used);
    }
    return [own, ...earlier];
  }

  private findOpen(definition: Definition, now: number): readonly KnownWindow[] {
    const all = this.windows[definition.name];
    return all.every((window) => isOpen(definition, window, now))
      ? all
      : all.filter((window) => isOpen(definition, window, now));
  }

  /** Adds the windows that were not open at a time, without those that are no longer needed. */
  private addOthers(
    open: readonly KnownWindow[],
    definition: Definition,
    at: number,
    now: number,
  ): readonly KnownWindow[] {
    const all = this.windows[definition.name];
    if (open === all) {
      return all;
    }
    const others = all.filter((window) => !isOpen(definition, window, at));
    const isNeeded = ({ endsAt, used }: KnownWindow) =>
      used > 0 && endsAt > now - MAX_REPLY_MS && endsAt <= now + definition.lengthMs;
    // The copy takes a fraction of the memory: a filtered array has room for more elements.
    return [...open, ...others].filter(isNeeded).slice();
  }
}

/** A window that ends later than a new one would was opened before the clock was set back. */
function isOpen({ lengthMs }: Definition, { endsAt }: KnownWindow, now: number): boolean {
  return endsAt > now && endsAt <= now + lengthMs;
}

function createWindow(endsAt: number): KnownWindow {
  return { endsAt, admitted: 0, used: 0 };
}
