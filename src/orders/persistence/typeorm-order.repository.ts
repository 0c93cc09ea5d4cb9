import { Injectable } from '@nestjs/common';
import { MoreThan, type Repository } from 'typeorm';
import { UnknownValueError } from '../../shared/domain/pet-store-error';
import { getInsertedId } from '../../shared/persistence/bigint-column';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { convertUnavailableError } from '../../shared/persistence/unavailable-error';
import { hasKnownStatus } from '../../shared/unknown-values';
import { type NewOrder, Order, ORDER_STATUSES } from '../domain/order';
import { type OrderPage, type OrderQuery, OrderRepository } from '../domain/order.repository';

@Injectable()
export class TypeOrmOrderRepository extends OrderRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {
    super();
    unitOfWork.requireSchema(Order);
  }

  add(order: NewOrder): Promise<Order> {
    return convertUnavailableError(async () => {
      const id = getInsertedId(await this.orders.insert(order));
      const { accountId, petId, quantity, status, shipDate, placedAt } = order;
      return new Order(id, accountId, petId, quantity, status, shipDate, placedAt);
    });
  }

  find(accountId: bigint, id: bigint): Promise<Order | null> {
    return convertUnavailableError(async () => {
      const order = await this.orders.findOneBy({ accountId, id });
      if (order !== null && !this.isKnown(order)) {
        throw new UnknownValueError();
      }
      return order;
    });
  }

  list({ accountId, status, petId, after, limit }: OrderQuery): Promise<OrderPage> {
    return convertUnavailableError(async () => {
      const found = await this.orders.find({
        where: {
          accountId,
          id: MoreThan(after),
          ...(status !== undefined && { status }),
          ...(petId !== undefined && { petId }),
        },
        order: { id: 'ASC' },
        // One more order than the page holds shows whether there is a next page.
        take: limit + 1,
      });
      const orders = found.slice(0, limit);
      return { orders: orders.filter(this.isKnown), next: found.length > limit ? orders.at(-1)?.id : undefined };
    });
  }

  private readonly isKnown = (order: Order) => hasKnownStatus(ORDER_STATUSES, 'order', order);

  private get orders(): Repository<Order> {
    return this.unitOfWork.manager.getRepository(Order);
  }
}
