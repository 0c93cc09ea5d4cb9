import type { Window } from './headers.js';
import { MAX_DELAY_MS, wait } from './wait.js';

/** Headers state times in whole seconds, so the same window seems to end at slightly different times. */
const SAME_WINDOW_MS = 2_000;

/** One request at a time, until a response shows how many are left. */
const UNKNOWN = { limit: 1, remaining: 1, endsAt: -Infinity };
const UNLIMITED = { limit: Infinity, remaining: Infinity, endsAt: -Infinity };

interface Waiting {
  readonly start: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Runs at most as many requests at once as `maxConcurrency` and the rate limit allow; the others wait in order. It measures time with a clock
 * that nobody sets back.
 */
export class RequestQueue {
  private running = 0;
  private window = UNKNOWN;
  private pause: { readonly until: number; readonly error?: unknown } = { until: -Infinity };
  private readonly waiting = new Set<Waiting>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly maxConcurrency: number,
    private readonly maxWaitMs: number,
  ) {}

  /** Runs a request when the rate limit allows it. @throws the signal's reason once it is aborted while waiting */
  async run<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await wait((start, fail) => {
      const entry = { start, fail };
      this.waiting.add(entry);
      this.startWaiting();
      return () => {
        this.waiting.delete(entry);
        this.startWaiting();
      };
    }, signal);
    try {
      return await request();
    } finally {
      this.running--;
      // A proxy may have removed the headers.
      if (this.window === UNKNOWN) {
        this.window = UNLIMITED;
      }
      this.startWaiting();
    }
  }

  /** Notes the window in a response. Responses arrive in any order: within a window, the fewest remaining requests count. */
  noteWindow({ limit, remaining, resetMs }: Window): void {
    const endsAt = performance.now() + resetMs;
    const isSame = Math.abs(endsAt - this.window.endsAt) < SAME_WINDOW_MS;
    if (resetMs > 0) {
      this.window = { limit, endsAt, remaining: isSame ? Math.min(this.window.remaining, remaining) : remaining };
    }
  }

  /** Starts no request until the `Retry-After` of a 429 has passed. If that takes too long, requests fail with its error for a while. */
  notePause(retryAfterMs: number, error: unknown): void {
    this.pause =
      retryAfterMs > this.maxWaitMs
        ? { until: performance.now() + this.maxWaitMs, error }
        : { until: Math.max(this.pause.until, performance.now() + retryAfterMs) };
  }

  private startWaiting(): void {
    clearTimeout(this.timer);
    const isPaused = performance.now() < this.pause.until;
    for (const entry of this.waiting) {
      if (isPaused && this.pause.error !== undefined) {
        this.waiting.delete(entry);
        entry.fail(this.pause.error);
      } else if (!isPaused && this.running < this.computeCapacity()) {
        this.waiting.delete(entry);
        this.running++;
        entry.start();
      }
    }
    const waitMs = Math.max(this.pause.until, this.window.endsAt) - performance.now();
    if (this.waiting.size > 0 && this.running < this.maxConcurrency && waitMs > 0) {
      this.timer = setTimeout(
        () => {
          this.startWaiting();
        },
        Math.min(waitMs, MAX_DELAY_MS),
      );
    }
  }

  /** If the window resets too late to wait for it, a single request at a time asks the service, whose 429 explains the rest. */
  private computeCapacity(): number {
    const { limit, remaining, endsAt } = this.window;
    const waitMs = endsAt - performance.now();
    const left = waitMs <= 0 ? limit : remaining;
    return Math.min(this.maxConcurrency, waitMs > 0 && waitMs <= this.maxWaitMs ? left : Math.max(1, left));
  }
}
