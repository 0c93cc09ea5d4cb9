import { ORDER_ERROR_ENTRIES } from './http/order-error-entries';
import { OrdersModule } from './orders.module';
import { CreateOrders1795291200000 } from './persistence/create-orders.migration';
import { OrderSchema } from './persistence/order.schema';

export const ORDERS = {
  module: OrdersModule,
  schemas: [OrderSchema],
  migrations: [CreateOrders1795291200000],
  scopes: ['orders:read', 'orders:write'],
  errors: ORDER_ERROR_ENTRIES,
};
