import { EntitySchema } from 'typeorm';
import { bigintColumn, type Columns, identityColumn, integerColumn } from '../../shared/persistence/columns';
import { createInCondition } from '../../shared/persistence/table-statements';
import { MAX_QUANTITY, Order, ORDER_STATUSES } from '../domain/order';

export const OrderSchema = new EntitySchema<Order>({
  name: 'Order',
  target: Order,
  tableName: 'orders',
  columns: {
    id: identityColumn,
    accountId: { ...bigintColumn, name: 'account_id' },
    petId: { ...bigintColumn, name: 'pet_id' },
    quantity: integerColumn,
    status: { type: 'text' },
    shipDate: { type: 'timestamptz', name: 'ship_date', nullable: true },
    placedAt: { type: 'timestamptz', name: 'placed_at' },
  } satisfies Columns<Order>,
  // One index for each way to list an account's orders.
  indices: [
    { name: 'orders_account_id', columns: ['accountId', 'id'] },
    { name: 'orders_account_id_status', columns: ['accountId', 'status', 'id'] },
    { name: 'orders_account_id_pet_id', columns: ['accountId', 'petId', 'id'] },
  ],
  foreignKeys: [
    { name: 'orders_account_id_fkey', target: 'Account', columnNames: ['accountId'], referencedColumnNames: ['id'] },
    { name: 'orders_pet_id_fkey', target: 'Pet', columnNames: ['petId'], referencedColumnNames: ['id'] },
  ],
  checks: [
    { name: 'orders_quantity_check', expression: `quantity BETWEEN 1 AND ${MAX_QUANTITY}` },
    { name: 'orders_status_check', expression: createInCondition('status', ORDER_STATUSES) },
  ],
});
