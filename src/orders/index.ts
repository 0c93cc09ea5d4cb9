export { ORDER_ERROR_ENTRIES } from './http/order-error-entries';
export { OrdersModule } from './orders.module';
