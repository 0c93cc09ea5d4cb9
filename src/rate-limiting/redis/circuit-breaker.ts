import { TimeoutError, withTimeout } from './with-timeout';

/** The interval at which an open breaker probes the store, and the consecutive successes that close it. */
const PROBE_INTERVAL_MS = 200;
const SUCCESSES_TO_CLOSE = 5;
/** A connection is replaced when a probe gets no response for this long. */
const PROBE_TIMEOUT_MS = 1_000;
/**
 * Replies are evaluated per period. The breaker opens after `MIN_EVALUATION_MS` of a period if at least half of its
 * replies are late.
 */
const EVALUATION_PERIOD_MS = 250;
const MIN_EVALUATION_MS = 100;

/** The outcome of a call: a reply in time, or a promise of a late reply that resolves to undefined if the call fails. */
export type Outcome<T> =
  { readonly reply: T } | { readonly reply: undefined; readonly lateReply: Promise<T | undefined> };

export interface CircuitBreakerOptions {
  readonly replyTimeoutMs: number;
  readonly probe: () => Promise<unknown>;
  readonly reconnect: () => void;
  readonly onOpen: (cause: unknown) => void;
  readonly onClose: () => void;
  readonly onReply: (ms: number) => void;
}

/**
 * Keeps requests from waiting for a store that fails or is slow. The breaker opens immediately on an error, and on late
 * replies when they are at least half of all replies for a while, so a single slow call does not open it. It closes after
 * consecutive successful probes. A probe must complete in half the time of a call, because calls queue under load.
 */
export class CircuitBreaker {
  private state: 'closed' | 'open' | 'stopped' = 'closed';
  private periodStartedAt = -Infinity;
  private replies = 0;
  private lateReplies = 0;

  constructor(private readonly options: CircuitBreakerOptions) {}

  get isOpen(): boolean {
    return this.state !== 'closed';
  }

  async execute<T>(call: () => Promise<T>): Promise<Outcome<T>> {
    if (this.isOpen) {
      return { reply: undefined, lateReply: Promise.resolve(undefined) };
    }
    const startedAt = performance.now();
    const replyPromise = call();
    try {
      const reply = await withTimeout(this.options.replyTimeoutMs, replyPromise);
      this.countReply(startedAt, 0);
      return { reply };
    } catch (error) {
      if (error instanceof TimeoutError) {
        if (this.countReply(startedAt, 1)) {
          this.open(error);
        }
      } else {
        this.open(error);
      }
      return { reply: undefined, lateReply: this.awaitLateReply(replyPromise) };
    }
  }

  /** Opens the breaker. Calls in flight may still complete in time. */
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

  /** Waits for a late reply; a late error opens the breaker like any other. */
  private async awaitLateReply<T>(replyPromise: Promise<T>): Promise<T | undefined> {
    try {
      return await replyPromise;
    } catch (error) {
      this.open(error);
      return undefined;
    }
  }

  /** @returns whether too many replies are late */
  private countReply(startedAt: number, late: 0 | 1): boolean {
    const now = performance.now();
    this.options.onReply(now - startedAt);
    if (now - this.periodStartedAt > EVALUATION_PERIOD_MS) {
      this.periodStartedAt = now;
      this.replies = this.lateReplies = 0;
    }
    this.replies++;
    this.lateReplies += late;
    return now - this.periodStartedAt >= MIN_EVALUATION_MS && this.lateReplies * 2 >= this.replies;
  }

  private async recover(): Promise<void> {
    for (let successes = 0; successes < SUCCESSES_TO_CLOSE;) {
      await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL_MS).unref());
      if (this.state === 'stopped') {
        return;
      }
      successes = (await this.isHealthy()) ? successes + 1 : 0;
    }
    if (this.state === 'open') {
      this.state = 'closed';
      this.periodStartedAt = -Infinity;
      this.options.onClose();
    }
  }

  /** Checks that a probe completes in time. The connection is replaced if the probe fails or gets no response. */
  private async isHealthy(): Promise<boolean> {
    const probe = this.options.probe();
    try {
      await withTimeout(this.options.replyTimeoutMs / 2, probe);
      return true;
    } catch (error) {
      const reply = error instanceof TimeoutError ? withTimeout(PROBE_TIMEOUT_MS, probe) : probe;
      await reply.catch(this.options.reconnect);
      return false;
    }
  }
}
