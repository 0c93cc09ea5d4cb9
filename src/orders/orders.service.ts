import { Injectable } from '@nestjs/common';
import { PetsService } from '../pets';
import { Clock } from '../shared/domain/clock';
import type { Page } from '../shared/domain/page';
import { UnitOfWork } from '../shared/domain/unit-of-work';
import { type Order, placeOrder, type PlaceOrderInput } from './domain/order';
import { OrderNotFoundError, PetNotAvailableError, UnknownPetError } from './domain/order-errors';
import { type OrderQuery, OrderRepository } from './domain/order.repository';

@Injectable()
export class OrdersService {
  constructor(
    private readonly orders: OrderRepository,
    private readonly pets: PetsService,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * Reserves the animal and places the order, or does neither. Of several orders for one animal, exactly one is placed.
   * @throws UnknownPetError, PetNotAvailableError
   */
  place(accountId: bigint, input: PlaceOrderInput): Promise<Order> {
    return this.unitOfWork.run(async () => {
      switch (await this.pets.reserve(input.petId)) {
        case 'unknown':
          throw new UnknownPetError();
        case 'not_available':
          throw new PetNotAvailableError();
        case 'reserved':
          return this.orders.add(placeOrder(accountId, input, this.clock.now()));
      }
    }, accountId);
  }

  /** Returns a page of an account's orders by ascending ID. */
  list(query: OrderQuery): Promise<Page<Order>> {
    return this.orders.list(query);
  }

  /** @throws OrderNotFoundError */
  async get(accountId: bigint, id: bigint): Promise<Order> {
    const order = await this.orders.find(accountId, id);
    if (order === null) {
      throw new OrderNotFoundError();
    }
    return order;
  }
}
