import { TimeoutError, withTimeout } from './with-timeout';

/** How often an open breaker probes the store, and how many good replies in a row close it. */
const PROBE_INTERVAL_MS = 200;
const GOOD_PROBES = 5;
/** After that long without a reply, the connection is given up for a new one. */
const PROBE_LIMIT_MS = 1_000;
/** Replies are judged together for a period; when half of them are late for that long, the breaker opens. */
const PERIOD_MS = 250;
const LATE_MS = 100;

/** What came of a call: a reply in time, or else the promise of a late one, undefined when there will be none. */
export type Outcome<T> = { readonly reply: T } | { readonly reply: undefined; readonly late: Promise<T | undefined> };

export interface BreakerOptions {
  readonly replyLimitMs: number;
  readonly probe: () => Promise<unknown>;
  readonly reconnect: () => void;
  readonly onOpen: (cause: unknown) => void;
  readonly onClose: () => void;
  readonly onReply: (ms: number) => void;
}

/**
 * Keeps a store that fails or is slow from holding up requests. It opens at an error at once, and at late replies when they are at
 * least half of the replies for a while; a single hiccup does not open it. It closes after good probes in a row: those
 * reply in half of the time that a call has, as under load a call waits for the one before it.
 */
export class CircuitBreaker {
  private state: 'closed' | 'open' | 'stopped' = 'closed';
  private periodStartedAt = -Infinity;
  private replies = 0;
  private lateReplies = 0;

  constructor(private readonly options: BreakerOptions) {}

  get isOpen(): boolean {
    return this.state !== 'closed';
  }

  async execute<T>(call: () => Promise<T>): Promise<Outcome<T>> {
    if (this.isOpen) {
      return { reply: undefined, late: Promise.resolve(undefined) };
    }
    const askedAt = performance.now();
    const sent = call();
    try {
      const reply = await withTimeout(this.options.replyLimitMs, sent);
      const now = performance.now();
      this.options.onReply(now - askedAt);
      this.countReply(now, 0);
      return { reply };
    } catch (error) {
      if (error instanceof TimeoutError) {
        if (this.countReply(performance.now(), 1)) {
          this.open(error);
        }
      } else {
        this.open(error);
      }
      return { reply: undefined, late: this.awaitLate(sent) };
    }
  }

  /** Opens the breaker. Calls that are on their way may still be replied to in time. */
  open(cause: unknown): void {
    if (this.isOpen) {
      return;
    }
    this.state = 'open';
    this.options.onOpen(cause);
    void this.recover();
  }

  stop(): void {
    this.state = 'stopped';
  }

  /** A call that fails late fails like any other. */
  private async awaitLate<T>(sent: Promise<T>): Promise<T | undefined> {
    try {
      return await sent;
    } catch (error) {
      this.open(error);
      return undefined;
    }
  }

  /** @returns whether late replies have become too many */
  private countReply(now: number, late: 0 | 1): boolean {
    if (now - this.periodStartedAt > PERIOD_MS) {
      this.periodStartedAt = now;
      this.replies = this.lateReplies = 0;
    }
    this.replies++;
    this.lateReplies += late;
    return now - this.periodStartedAt >= LATE_MS && this.lateReplies * 2 >= this.replies;
  }

  private async recover(): Promise<void> {
    for (let good = 0; good < GOOD_PROBES;) {
      await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL_MS).unref());
      if (this.state === 'stopped') {
        return;
      }
      good = (await this.isWell()) ? good + 1 : 0;
    }
    if (this.state === 'open') {
      this.state = 'closed';
      this.periodStartedAt = -Infinity;
      this.options.onClose();
    }
  }

  /** Whether a probe replies soon. One that fails, or never replies, gives the connection up. */
  private async isWell(): Promise<boolean> {
    const probe = this.options.probe();
    try {
      await withTimeout(this.options.replyLimitMs / 2, probe);
      return true;
    } catch (error) {
      const reply = error instanceof TimeoutError ? withTimeout(PROBE_LIMIT_MS, probe) : probe;
      await reply.catch(this.options.reconnect);
      return false;
    }
  }
}
