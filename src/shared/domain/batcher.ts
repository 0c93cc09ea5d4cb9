import { ServiceUnavailableError } from './pet-store-error';
import type { Semaphore } from './semaphore';

interface QueuedItem<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout | undefined;
}

/** So that one batch delays neither its first item nor other connections for long. */
const MAX_BATCH_SIZE = 200;
/** How long an item may wait for its batch to start. */
const MAX_WAIT_MS = 700;

interface BatcherOptions {
  /** Whether nothing was changed if a batch fails with this error: its items are then processed in smaller batches. */
  readonly isSplittable: (error: unknown) => boolean;
  /** Items that arrive while as many batches run form the next batch. Default: no limit. */
  readonly maxConcurrentBatches?: number;
  /** Limits the concurrency of this and other work. */
  readonly semaphore?: Semaphore | undefined;
}

/** Batches items that arrive in one event-loop tick, or while earlier batches are running. */
export class Batcher<Item, Result> {
  /** Not a Set: when a Set grows, the hash table that it discards keeps its items alive until the next full garbage collection. */
  private readonly queue: QueuedItem<Item, Result>[] = [];
  private isScheduled = false;
  private runningBatches = 0;

  /** @param processBatch processes all items or none, and returns the results in the order of the items */
  constructor(
    private readonly processBatch: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly options: BatcherOptions,
  ) {}

  /** @throws ServiceUnavailableError when the batch does not start in time */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const expire = () => {
        this.queue.splice(this.queue.indexOf(queuedItem), 1);
        reject(new ServiceUnavailableError(new Error(`Earlier batches took longer than ${MAX_WAIT_MS} ms`)));
      };
      // Without a limit, a batch starts in the next tick, however busy the process is.
      const timer = this.options.maxConcurrentBatches === undefined ? undefined : setTimeout(expire, MAX_WAIT_MS);
      const queuedItem = { item, resolve, reject, timer };
      this.queue.push(queuedItem);
      this.schedule();
    });
  }

  /** Processes an item at once and alone. */
  async runAlone(item: Item): Promise<Result> {
    const [result] = await this.processBatch([item]);
    return result as Result;
  }

  private schedule(): void {
    const { maxConcurrentBatches = Infinity } = this.options;
    if (!this.isScheduled && this.queue.length > 0 && this.runningBatches < maxConcurrentBatches) {
      this.isScheduled = true;
      setImmediate(() => void this.runNext());
    }
  }

  private async runNext(): Promise<void> {
    this.runningBatches++;
    const start = async () => {
      this.isScheduled = false;
      const batch = this.takeBatch();
      this.schedule();
      // All items may have expired during the wait.
      if (batch.length > 0) {
        await this.run(batch);
      }
    };
    try {
      const { semaphore } = this.options;
      // Items that arrive during this wait join the batch.
      await (semaphore === undefined ? start() : semaphore.run(start, this));
    } catch {
      // Each item has its own timeout, which rejects its promise.
      this.isScheduled = false;
    } finally {
      this.runningBatches--;
      this.schedule();
    }
  }

  private takeBatch(): QueuedItem<Item, Result>[] {
    const batch = this.queue.splice(0, MAX_BATCH_SIZE);
    batch.forEach(({ timer }) => {
      clearTimeout(timer);
    });
    return batch;
  }

  private async run(batch: readonly QueuedItem<Item, Result>[]): Promise<void> {
    try {
      const results = await this.processBatch(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      if (batch.length > 1 && this.options.isSplittable(error)) {
        // One item that is rejected must not fail the others.
        const half = Math.ceil(batch.length / 2);
        await this.run(batch.slice(0, half));
        await this.run(batch.slice(half));
      } else {
        batch.forEach(({ reject }) => {
          reject(error);
        });
      }
    }
  }
}
