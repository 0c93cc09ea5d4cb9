/** Five responses continue every 10 ms: 500 per second, which use about 5% of a CPU. */
const BATCH_SIZE = 5;
const INTERVAL_MS = 10;
/** The number of responses that continue in one second. */
const MAX_QUEUE_LENGTH = 500;

/**
 * Delays responses to client IP addresses with several authentication failures. A few continue every 10 ms, first come, first served, so a
 * flood of wrong keys on a few hundred connections hardly slows down other clients.
 */
export class AuthFailureThrottle {
  private readonly queue: (() => void)[] = [];

  /** Waits for its turn, unless the queue has its maximum length, which bounds its memory. */
  wait(): Promise<void> | undefined {
    if (this.queue.length >= MAX_QUEUE_LENGTH) {
      return undefined;
    }
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
