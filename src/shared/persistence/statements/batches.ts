import { ServiceUnavailableError } from '../../domain/pet-store-error';
import type { Semaphore } from './semaphore';
import { isRejectedRow } from '../unavailable';

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

/** The maximum number of concurrent batches. Items that arrive meanwhile form the next batch. */
const MAX_CONCURRENT_BATCHES = 4;
const MAX_SIZE = 1_000;
/** How long an item may wait for its batch to start. */
const MAX_WAIT_MS = 700;

/** Batches items that arrive in one event-loop tick, or while earlier batches are running. */
export class Batches<Item, Result> {
  /** Not a Set: each table that a Set outgrows would keep its items alive until the next full garbage collection. */
  private readonly waiting: Waiting<Item, Result>[] = [];
  private isScheduled = false;
  private underWay = 0;

  /**
   * @param work processes all items or none, and returns the results in the order of the items
   * @param semaphore limits the concurrency of this and other work
   */
  constructor(
    private readonly work: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly semaphore: Semaphore,
  ) {}

  /** @throws ServiceUnavailableError when the batch does not start in time */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(waiting), 1);
        reject(new ServiceUnavailableError(new Error(`Earlier batches took longer than ${MAX_WAIT_MS} ms`)));
      }, MAX_WAIT_MS);
      const waiting = { item, resolve, reject, timer };
      this.waiting.push(waiting);
      this.schedule();
    });
  }

  private schedule(): void {
    if (!this.isScheduled && this.waiting.length > 0 && this.underWay < MAX_CONCURRENT_BATCHES) {
      this.isScheduled = true;
      setImmediate(() => void this.runNext());
    }
  }

  private async runNext(): Promise<void> {
    this.underWay++;
    try {
      // Items that arrive during this wait join the batch.
      await this.semaphore.run(async () => {
        this.isScheduled = false;
        const batch = this.nextBatch();
        this.schedule();
        await this.run(batch);
      });
    } catch {
      // Each item has its own timeout, which rejects its promise.
      this.isScheduled = false;
    } finally {
      this.underWay--;
      this.schedule();
    }
  }

  private nextBatch(): Waiting<Item, Result>[] {
    const batch = this.waiting.splice(0, MAX_SIZE);
    batch.forEach(({ timer }) => {
      clearTimeout(timer);
    });
    return batch;
  }

  private async run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.work(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      if (batch.length > 1 && isRejectedRow(error)) {
        // Nothing was changed. One item that the database rejects must not fail the others.
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
