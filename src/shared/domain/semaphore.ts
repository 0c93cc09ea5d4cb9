import { ServiceUnavailableError } from './pet-store-error';

/** Limits the number of concurrent tasks; other tasks wait for a limited time. */
export class Semaphore {
  private readonly waiting = new Set<() => void>();

  constructor(
    private permits: number,
    private readonly maxWaitMs: number,
  ) {}

  /** @throws ServiceUnavailableError when no permit is free in time */
  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.acquire();
    try {
      return await task();
    } finally {
      this.release();
    }
  }

  private acquire(): Promise<void> {
    if (this.permits > 0) {
      this.permits--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(proceed);
        reject(
          new ServiceUnavailableError(new Error(`All connections for writing were busy for ${this.maxWaitMs} ms`)),
        );
      }, this.maxWaitMs);
      this.waiting.add(proceed);
    });
  }

  private release(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.permits++;
    } else {
      this.waiting.delete(next);
      next();
    }
  }
}
