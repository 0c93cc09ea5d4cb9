export const ORDER_STATUSES = ['placed', 'approved', 'delivered'] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const MAX_QUANTITY = 100;
const FIRST_SHIP_DATE = Date.UTC(1970, 0, 1);
const LAST_SHIP_DATE = Date.UTC(10_000, 0, 1) - 1;

/** An account's order for an animal of the store. */
export class Order {
  constructor(
    readonly id: bigint,
    readonly accountId: bigint,
    readonly petId: bigint,
    readonly quantity: number,
    readonly status: OrderStatus,
    /** When it is to be shipped; null if nothing was said. */
    readonly shipDate: Date | null,
    readonly placedAt: Date,
  ) {}
}

/** An order before the store has given it an id. */
export type NewOrder = Omit<Order, 'id'>;

/** What is asked for with an order. */
export type PlaceOrderInput = Pick<Order, 'petId' | 'quantity' | 'shipDate'>;

/** @param now in ms since the Unix epoch */
export function placeOrder(accountId: bigint, input: PlaceOrderInput, now: number): NewOrder {
  const { petId, quantity, shipDate } = input;
  return { accountId, petId, quantity, status: 'placed', shipDate, placedAt: new Date(now) };
}

/** What keeps a value from being a quantity, in words that follow "quantity"; undefined for a good one. */
export function validateQuantity(value: unknown): string | undefined {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_QUANTITY
    ? undefined
    : `must be an integer from 1 to ${MAX_QUANTITY}`;
}

/** What keeps a value from being a ship date, in words that follow "shipDate"; undefined for a good one, or none. */
export function validateShipDate(value: unknown): string | undefined {
  const isGood =
    value === null ||
    (value instanceof Date && value.getTime() >= FIRST_SHIP_DATE && value.getTime() <= LAST_SHIP_DATE);
  return isGood ? undefined : 'must be a date-time with its zone, such as 2026-12-24T09:00:00Z, from 1970 to 9999';
}
