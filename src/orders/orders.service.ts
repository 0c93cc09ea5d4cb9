import { Injectable } from '@nestjs/common';
import { PetsService } from '../pets';
import { Clock } from '../shared/domain/clock';
import { Database } from '../shared/persistence/database';
import { type Order, type OrderWish, placeOrder } from './domain/order';
import { OrderNotFoundError, PetNotAvailableError, UnknownPetError } from './domain/order-errors';
import { type OrderPage, type OrderQuery, OrderRepository } from './domain/order.repository';

@Injectable()
export class OrdersService {
  constructor(
    private readonly orders: OrderRepository,
    private readonly pets: PetsService,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Reserves the animal and places the order, both or neither: of several orders for one animal, one is placed.
   * @throws UnknownPetError, PetNotAvailableError
   */
  place(accountId: bigint, wish: OrderWish): Promise<Order> {
    return this.database.transaction(async () => {
      switch (await this.pets.reserve(wish.petId)) {
        case 'unknown':
          throw new UnknownPetError();
        case 'not_available':
          throw new PetNotAvailableError();
        case 'reserved':
          return this.orders.add(placeOrder(accountId, wish, this.clock.now()));
      }
    });
  }

  /** One page of an account's orders by ascending id. */
  page(query: OrderQuery): Promise<OrderPage> {
    return this.orders.page(query);
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
