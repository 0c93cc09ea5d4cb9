export const ORDER_STATUSES = ['placed', 'approved', 'delivered'] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const MAX_QUANTITY = 100;

/** An account's order for an animal of the store. */
export class Order {
  constructor(
    readonly id: bigint,
    readonly accountId: bigint,
    readonly petId: bigint,
    readonly quantity: number,
    readonly status: OrderStatus,
    /** When it is to be shipped; null if not given. */
    readonly shipDate: Date | null,
    readonly placedAt: Date,
  ) {}
}

/** An order that has no ID yet. */
export type NewOrder = Omit<Order, 'id'>;

/** The client's input for an order. */
export interface PlaceOrderInput extends Pick<Order, 'petId' | 'quantity'> {
  readonly shipDate?: Date;
}

/** @param now in ms since the Unix epoch */
export function placeOrder(accountId: bigint, input: PlaceOrderInput, now: number): NewOrder {
  const { petId, quantity, shipDate = null } = input;
  return { accountId, petId, quantity, status: 'placed', shipDate, placedAt: new Date(now) };
}

/** @returns what is wrong with the value, as a phrase that follows "quantity"; undefined if it is valid */
export function validateQuantity(value: unknown): string | undefined {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_QUANTITY
    ? undefined
    : `must be an integer from 1 to ${MAX_QUANTITY}`;
}
