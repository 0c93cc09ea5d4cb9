import { getErrorMessage } from '../../shared/domain/error-message';
import { TimeoutError, withTimeout } from './with-timeout';

/** The interval at which an open breaker probes the store, and the consecutive successes that close it. */
const PROBE_INTERVAL_MS = 200;
const SUCCESSES_TO_CLOSE = 5;
/** A connection is replaced when a probe gets no response for this long. */
const PROBE_TIMEOUT_MS = 1_000;
/** The breaker opens when at least half of the replies of a period are late, but not before it has lasted a while. */
const PERIOD_MS = 250;
const MIN_PERIOD_MS = 100;
/** While calls are rare, it opens after as many late replies without one in time. */
const MAX_LATE_IN_A_ROW = 5;
/** How many reasons are reported while it is open, each once in a while. */
const MAX_REASONS = 10;
const REMINDER_INTERVAL_MS = 60_000;

interface CircuitBreakerOptions {
  readonly replyTimeoutMs: number;
  /** Whether an error concerns a few calls only, and is a reply like any other for the rest. */
  readonly concernsFew: (error: unknown) => boolean;
  readonly probe: () => Promise<unknown>;
  readonly reconnect: () => void;
  readonly onOpen: (reason: string) => void;
  /** Called once a minute for each reason why probes, or a few calls, fail. */
  readonly onFailure: (reason: string) => void;
  readonly onClose: () => void;
  readonly onReply: (ms: number) => void;
}

/**
 * Keeps requests from waiting for a store that fails or is slow. The breaker opens immediately on an error, and when many replies are late,
 * so a single slow call does not open it. It closes after consecutive successful probes. A probe must complete in half the time of a call, because calls queue under load.
 */
export class CircuitBreaker {
  private state: 'closed' | 'open' | 'stopped' = 'closed';
  private period = { startedAt: -Infinity, replies: 0, late: 0 };
  private readonly reasons = new Set<string>();
  private remindsAt = 0;

  constructor(private readonly options: CircuitBreakerOptions) {}

  get isOpen(): boolean {
    return this.state !== 'closed';
  }

  /**
   * @returns undefined if the breaker is open, the call fails or its reply is late
   * @throws what `call` itself throws: an error in the code says nothing about the store
   */
  async execute<T>(call: () => Promise<T>): Promise<T | undefined> {
    if (this.isOpen) {
      return undefined;
    }
    const startedAt = performance.now();
    const outcome = await withTimeout(this.options.replyTimeoutMs, call()).then(
      (reply) => ({ reply }),
      (error: unknown) => ({ error }),
    );
    if ('reply' in outcome) {
      this.countReply(startedAt, 0);
      return outcome.reply;
    }
    const { error } = outcome;
    if (this.options.concernsFew(error)) {
      this.countReply(startedAt, 0);
      this.reportFailure(error);
    } else if (!(error instanceof TimeoutError) || this.countReply(startedAt, 1)) {
      this.open(error);
    }
    return undefined;
  }

  /** Opens the breaker. Calls in flight may still complete in time. */
  open(cause: unknown): void {
    if (!this.isOpen) {
      this.state = 'open';
      const reason = getErrorMessage(cause);
      this.forgetReasons();
      this.reasons.add(reason);
      this.options.onOpen(reason);
      void this.recover();
    }
  }

  stop(): void {
    this.state = 'stopped';
  }

  /** @returns whether too many replies are late */
  private countReply(startedAt: number, late: 0 | 1): boolean {
    const now = performance.now();
    this.options.onReply(now - startedAt);
    const { period } = this;
    // While all replies are late, the period goes on.
    if (now - period.startedAt > PERIOD_MS && (period.late < period.replies || period.replies === 0)) {
      this.period = { startedAt: now, replies: 1, late };
      return false;
    }
    period.replies++;
    period.late += late;
    const ms = now - period.startedAt;
    return (
      ms >= MIN_PERIOD_MS && period.late * 2 >= period.replies && (ms <= PERIOD_MS || period.late >= MAX_LATE_IN_A_ROW)
    );
  }

  private reportFailure(cause: unknown): void {
    const reason = getErrorMessage(cause);
    if (performance.now() > this.remindsAt) {
      this.forgetReasons();
    }
    if (!this.reasons.has(reason) && this.reasons.size < MAX_REASONS) {
      this.reasons.add(reason);
      this.options.onFailure(reason);
    }
  }

  private forgetReasons(): void {
    this.reasons.clear();
    this.remindsAt = performance.now() + REMINDER_INTERVAL_MS;
  }

  private async recover(): Promise<void> {
    for (let successes = 0; successes < SUCCESSES_TO_CLOSE;) {
      await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL_MS).unref());
      if (this.state === 'stopped') {
        return;
      }
      successes = (await this.isHealthy().catch(() => false)) ? successes + 1 : 0;
    }
    if (this.state === 'open') {
      this.state = 'closed';
      this.period = { startedAt: -Infinity, replies: 0, late: 0 };
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
      if (this.options.concernsFew(error)) {
        return true;
      }
      const reply = error instanceof TimeoutError ? withTimeout(PROBE_TIMEOUT_MS, probe) : probe;
      await reply.catch((cause: unknown) => {
        this.reportFailure(cause);
        this.options.reconnect();
      });
      return false;
    }
  }
}
