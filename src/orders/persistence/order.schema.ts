import { EntitySchema } from 'typeorm';
import { bigintColumn, identityColumn } from '../../shared/persistence/bigint-column';
import { Order } from '../domain/order';

export const OrderSchema = new EntitySchema<Order>({
  name: 'Order',
  target: Order,
  tableName: 'orders',
  columns: {
    id: identityColumn,
    accountId: { ...bigintColumn, name: 'account_id' },
    petId: { ...bigintColumn, name: 'pet_id' },
    quantity: { type: 'integer' },
    status: { type: 'text' },
    shipDate: { type: 'timestamptz', name: 'ship_date', nullable: true },
    placedAt: { type: 'timestamptz', name: 'placed_at' },
  },
});
