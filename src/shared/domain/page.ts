/**
 * A page of a list, by ascending ID. It can be iterated over any number of times, each time with new items, because requests that arrive
 * together share it.
 */
export class Page<Item> implements Iterable<Item> {
  private readonly mapped = new Map<object, unknown>();

  /**
   * @param createItems creates the items anew at each call
   * @param next the ID after which the next page starts; undefined on the last page
   */
  constructor(
    private readonly createItems: () => Item[],
    readonly next: bigint | undefined,
  ) {}

  [Symbol.iterator](): Iterator<Item> {
    return this.createItems()[Symbol.iterator]();
  }

  /** The same page with an object of the class for each item. */
  map<Mapped>(type: new (item: Item) => Mapped): Page<Mapped> {
    const known = this.mapped.get(type) as Page<Mapped> | undefined;
    const page = known ?? new Page(() => this.createItems().map((item) => new type(item)), this.next);
    this.mapped.set(type, page);
    return page;
  }

  toJSON(): Item[] {
    return this.createItems();
  }
}
