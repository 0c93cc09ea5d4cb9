import { Injectable } from '@nestjs/common';
import type { Page } from '../../shared/domain/page';
import { type Table, Tables } from '../../shared/persistence/table';
import { hasKnownStatus } from '../../shared/unknown-values';
import { type NewOrder, Order, ORDER_STATUSES } from '../domain/order';
import { type OrderQuery, OrderRepository } from '../domain/order.repository';
import { OrderSchema } from './order.schema';

@Injectable()
export class TypeOrmOrderRepository extends OrderRepository {
  private readonly table: Table<Order>;

  constructor(tables: Tables) {
    super();
    this.table = tables.get(OrderSchema, { isKnown: (order) => hasKnownStatus(ORDER_STATUSES, 'order', order) });
  }

  async add(order: NewOrder): Promise<Order> {
    const { accountId, petId, quantity, status, shipDate, placedAt } = order;
    return new Order(await this.table.insert(order), accountId, petId, quantity, status, shipDate, placedAt);
  }

  find(accountId: bigint, id: bigint): Promise<Order | null> {
    return this.table.find(id, { accountId });
  }

  list({ accountId, status, petId, ...page }: OrderQuery): Promise<Page<Order>> {
    return this.table.page({ filters: { accountId, status, petId }, ...page });
  }
}
