/** Five requests continue every 10 ms: 500 per second, which use about 5% of a CPU. */
const BATCH_SIZE = 5;
const INTERVAL_MS = 10;
/** The number of requests that continue in one second. */
const MAX_QUEUE_LENGTH = 500;

/**
 * Queues requests without a cached key from client IP addresses with recent authentication failures. A few continue every 10 ms, first
 * come, first served, so a flood of wrong keys causes few lookups and hardly slows down other clients.
 */
export class AuthFailureThrottle {
  private readonly queue: (() => void)[] = [];

  /** Whether the queue has its maximum length, which bounds its memory. */
  get isFull(): boolean {
    return this.queue.length >= MAX_QUEUE_LENGTH;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.queue.push(resolve) === 1) {
        this.scheduleNext();
      }
    });
  }

  private scheduleNext(): void {
    setTimeout(() => {
      this.queue.splice(0, BATCH_SIZE).forEach((resolve) => {
        resolve();
      });
      if (this.queue.length > 0) {
        this.scheduleNext();
      }
    }, INTERVAL_MS);
  }
}
