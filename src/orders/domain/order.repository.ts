import type { NewOrder, Order, OrderStatus } from './order';

export interface OrderQuery {
  readonly accountId: bigint;
  readonly status: OrderStatus | undefined;
  readonly petId: bigint | undefined;
  /** Only orders with a larger ID. */
  readonly after: bigint;
  /** The maximum number of orders. */
  readonly limit: number;
}

export interface OrderPage {
  readonly orders: readonly Order[];
  /** The ID after which the next page starts; undefined on the last page. */
  readonly next: bigint | undefined;
}

/** The orders of the store. Each belongs to an account, and only that account can find it. */
export abstract class OrderRepository {
  /** Stores an order and assigns its ID. */
  abstract add(order: NewOrder): Promise<Order>;
  abstract find(accountId: bigint, id: bigint): Promise<Order | null>;
  /** Orders of an account by ascending ID. */
  abstract list(query: OrderQuery): Promise<OrderPage>;
}
