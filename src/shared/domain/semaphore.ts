import { ServiceUnavailableError } from './pet-store-error';

/** Limits the number of concurrent tasks; other tasks wait for a limited time. Their owners take turns, so that none waits behind a burst. */
export class Semaphore {
  /** Waiting tasks by owner, in the order of the owners' next turns. */
  private readonly waiting = new Map<unknown, Set<() => void>>();

  constructor(
    private permits: number,
    private readonly maxWaitMs: number,
  ) {}

  /** How many tasks are waiting. */
  get waitingCount(): number {
    return [...this.waiting.values()].reduce((sum, tasks) => sum + tasks.size, 0);
  }

  /** @throws ServiceUnavailableError when no permit is free in time */
  async run<T>(task: () => Promise<T>, owner?: unknown): Promise<T> {
    await this.acquire(owner);
    try {
      return await task();
    } finally {
      this.release();
    }
  }

  private acquire(owner: unknown): Promise<void> {
    if (this.permits > 0) {
      this.permits--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        clearTimeout(timer);
        resolve();
      };
      const tasks = this.waiting.get(owner) ?? new Set();
      const timer = setTimeout(() => {
        tasks.delete(proceed);
        if (tasks.size === 0) {
          this.waiting.delete(owner);
        }
        reject(
          new ServiceUnavailableError(new Error(`All connections for writing were busy for ${this.maxWaitMs} ms`)),
        );
      }, this.maxWaitMs);
      this.waiting.set(owner, tasks.add(proceed));
    });
  }

  private release(): void {
    const [turn] = this.waiting;
    if (turn === undefined) {
      this.permits++;
      return;
    }
    const [owner, tasks] = turn;
    const [next] = tasks;
    this.waiting.delete(owner);
    if (next !== undefined) {
      tasks.delete(next);
      if (tasks.size > 0) {
        this.waiting.set(owner, tasks);
      }
      next();
    }
  }
}
