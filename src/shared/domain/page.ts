/** A page of a list, by ascending ID. */
export interface Page<Item> {
  readonly items: Item[];
  /** The ID after which the next page starts; undefined on the last page. */
  readonly next: bigint | undefined;
}

/** The items of a page, for the requests that arrive together and ask for it. */
export class SharedItems<Item> {
  private readonly mapped = new Map<object, unknown>();

  /** @param create creates the items anew at each call */
  constructor(readonly create: () => Item[]) {}

  /** Returns an array for one request, with items of its own. They are created when somebody first looks at them. */
  toArray(): Item[] {
    const target: Item[] = Object.defineProperty([], INSPECT, INSPECTOR);
    const array = new Proxy(target, HANDLER);
    const source: Source = { shared: this };
    sources.set(target, source).set(array, source);
    return array;
  }

  map<Mapped>(type: new (item: Item) => Mapped): SharedItems<Mapped> {
    const known = this.mapped.get(type) as SharedItems<Mapped> | undefined;
    const mapped = known ?? new SharedItems(() => this.create().map((item) => new type(item)));
    this.mapped.set(type, mapped);
    return mapped;
  }
}

/** The shared items of an array that nobody has looked at, and so nobody has changed. */
export function getSharedItems(array: unknown): SharedItems<unknown> | undefined {
  return sources.get(array as object)?.shared;
}

/** Returns an array with an object of the class for each item, created when somebody looks at them. */
export function mapItems<Item, Mapped>(items: Item[], type: new (item: Item) => Mapped): Mapped[] {
  const shared = getSharedItems(items) as SharedItems<Item> | undefined;
  return shared?.map(type).toArray() ?? items.map((item) => new type(item));
}

interface Source {
  shared: SharedItems<unknown> | undefined;
}

/** By array, and by the target of its proxy. */
const sources = new WeakMap<object, Source>();

const LOOKS = [
  ...(['get', 'has', 'set', 'deleteProperty', 'defineProperty', 'getOwnPropertyDescriptor'] as const),
  ...(['ownKeys', 'preventExtensions', 'setPrototypeOf'] as const),
];
const HANDLER: ProxyHandler<never[]> = Object.fromEntries(LOOKS.map((look) => [look, createTrap(look)]));

function createTrap(look: (typeof LOOKS)[number]) {
  return (target: unknown[], ...parameters: [PropertyKey?]): unknown => {
    const [key = 'length'] = parameters;
    // A reply looks for `then`, `pipe` and other names that no array has.
    const isAbsent = (look === 'get' || look === 'has') && !(key in target) && !/^\d/.test(String(key));
    const source = sources.get(target);
    if (!isAbsent && source?.shared !== undefined) {
      target.push(...source.shared.create());
      source.shared = undefined;
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
