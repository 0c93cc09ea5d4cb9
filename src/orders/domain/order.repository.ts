import type { Page } from '../../shared/domain/page';
import type { NewOrder, Order, OrderStatus } from './order';

export interface OrderQuery {
  readonly accountId: bigint;
  readonly status: OrderStatus | undefined;
  readonly petId: bigint | undefined;
  /** Only orders with a larger ID. */
  readonly after: bigint;
  /** The maximum number of orders; never more than `MAX_PAGE_LIMIT`. */
  readonly limit: number;
}

/** The orders of the store. Each belongs to an account, and only that account can find it. */
export abstract class OrderRepository {
  /** Stores an order and assigns its ID. */
  abstract add(order: NewOrder): Promise<Order>;
  abstract find(accountId: bigint, id: bigint): Promise<Order | null>;
  /** Returns a page of an account's orders by ascending ID. */
  abstract list(query: OrderQuery): Promise<Page<Order>>;
}
