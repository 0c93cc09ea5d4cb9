import type { NewOrder, Order, OrderStatus } from './order';

export interface OrderQuery {
  readonly accountId: bigint;
  readonly status: OrderStatus | undefined;
  readonly petId: bigint | undefined;
  /** Only orders with a larger id. */
  readonly after: bigint;
  /** At most this many. */
  readonly limit: number;
}

export interface OrderPage {
  readonly orders: readonly Order[];
  /** The id after which the next page begins; undefined on the last page. */
  readonly next: bigint | undefined;
}

/** The orders of the store. Each belongs to an account, and is found for that account only. */
export abstract class OrderRepository {
  /** Stores an order and gives it its id. */
  abstract add(order: NewOrder): Promise<Order>;
  abstract find(accountId: bigint, id: bigint): Promise<Order | null>;
  /** Orders of an account by ascending id. */
  abstract page(query: OrderQuery): Promise<OrderPage>;
}
