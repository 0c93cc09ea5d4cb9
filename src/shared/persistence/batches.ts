import { PetStoreError } from '../domain/pet-store-error';

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** How many batches are under way at once: what comes meanwhile waits and makes up the next one. */
const UNDER_WAY = 4;
const MAX_SIZE = 1_000;

/** Does together what is asked for in one turn of the event loop, or while the database is busy with what came before. */
export class Batches<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private isScheduled = false;
  private underWay = 0;

  /** @param work does it for all items or for none, and gives the results in the order of the items */
  constructor(private readonly work: (items: readonly Item[]) => Promise<readonly Result[]>) {}

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (!this.isScheduled && this.waiting.length > 0 && this.underWay < UNDER_WAY) {
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        void this.run(this.waiting.splice(0, MAX_SIZE));
      });
    }
  }

  private async run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    this.underWay++;
    this.schedule();
    try {
      const results = await this.work(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as Result);
      });
    } catch (error) {
      if (batch.length === 1 || error instanceof PetStoreError) {
        batch.forEach(({ reject }) => {
          reject(error);
        });
      } else {
        // One item that the database refuses must not take the others along.
        await Promise.all(batch.map((one) => this.run([one])));
      }
    } finally {
      this.underWay--;
      this.schedule();
    }
  }
}
