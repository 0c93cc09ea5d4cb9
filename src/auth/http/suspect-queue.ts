/** How many continue at once, and how often: 500 a second, which take about 5% of a CPU. */
const BATCH_SIZE = 5;
const INTERVAL_MS = 10;
/** A second's worth. */
const MAX_WAITING = 500;

/**
 * Where requests wait without a known key from client IP addresses that sent wrong keys. A few continue every 10 ms, first come,
 * first served, so a flood of wrong keys takes little from other clients, and few keys are looked up for it.
 */
export class SuspectQueue {
  private readonly waiting: (() => void)[] = [];

  /** Whether another one must be rejected, so that memory is bounded. */
  get isFull(): boolean {
    return this.waiting.length >= MAX_WAITING;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.waiting.push(resolve) === 1) {
        this.scheduleNext();
      }
    });
  }

  private scheduleNext(): void {
    setTimeout(() => {
      this.waiting.splice(0, BATCH_SIZE).forEach((resolve) => {
        resolve();
      });
      if (this.waiting.length > 0) {
        this.scheduleNext();
      }
    }, INTERVAL_MS);
  }
}
