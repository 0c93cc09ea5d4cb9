/** A page of a list, by ascending ID. */
export interface Page<Item> {
  readonly items: Item[];
  /** The ID after which the next page starts; undefined on the last page. */
  readonly next: bigint | undefined;
}

/** The items of a page, for the requests that arrive together and ask for it. */
export class SharedItems<Item> {
  private readonly results = new Map<object, unknown>();

  /** @param create creates the items anew at each call */
  constructor(readonly create: () => Item[]) {}

  /** Returns an array for one request, with items of its own. They are created when somebody first looks at them. */
  toArray(): Item[] {
    const target: LazyArray = Object.defineProperty([], INSPECT, INSPECTOR);
    target[SHARED] = this;
    return new Proxy(target, HANDLER) as Item[];
  }

  /** Calls the function once for all requests. */
  share<Result>(key: object, compute: () => Result): Result {
    if (!this.results.has(key)) {
      this.results.set(key, compute());
    }
    return this.results.get(key) as Result;
  }
}

/** The shared items of an array that nobody has looked at, and so nobody has changed. */
export function getSharedItems(array: unknown): SharedItems<unknown> | undefined {
  return (array as Partial<LazyArray> | null | undefined)?.[SHARED];
}

/** Returns an array with an object of the class for each item, created when somebody looks at them. */
export function mapItems<Item, Mapped>(items: Item[], type: new (item: Item) => Mapped): Mapped[] {
  const map = (all: Item[]) => all.map((item) => new type(item));
  const shared = getSharedItems(items) as SharedItems<Item> | undefined;
  return shared?.share(type, () => new SharedItems(() => map(shared.create()))).toArray() ?? map(items);
}

/** A property of arrays, because collecting garbage is expensive while a WeakMap has an entry for each request. */
const SHARED = Symbol('shared items');

/** The target of a proxy. */
type LazyArray = unknown[] & { [SHARED]?: SharedItems<unknown> };

const LOOKS = [
  ...(['get', 'has', 'set', 'deleteProperty', 'defineProperty', 'getOwnPropertyDescriptor'] as const),
  ...(['ownKeys', 'preventExtensions', 'setPrototypeOf'] as const),
];
const HANDLER: ProxyHandler<LazyArray> = Object.fromEntries(LOOKS.map((look) => [look, createTrap(look)]));

function createTrap(look: (typeof LOOKS)[number]) {
  return (target: LazyArray, ...parameters: [PropertyKey?]): unknown => {
    const [key = 'length'] = parameters;
    // A reply looks for `then`, `pipe` and other names that no array has.
    const isAbsent = (look === 'get' || look === 'has') && !(key in target) && !/^\d/.test(String(key));
    const shared = target[SHARED];
    if (!isAbsent && key !== SHARED && shared !== undefined) {
      Reflect.deleteProperty(target, SHARED);
      target.push(...shared.create());
    }
    return Reflect.apply(Reflect[look], undefined, [target, ...parameters]);
  };
}

/** `console.log` looks behind the proxy. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');
const INSPECTOR = {
  value(this: unknown[]) {
    return [...this];
  },
};
