import { Module } from '@nestjs/common';
import { PetsModule } from '../pets';
import { OrderRepository } from './domain/order.repository';
import { OrdersController } from './http/orders.controller';
import { OrdersService } from './orders.service';
import { TypeOrmOrderRepository } from './persistence/typeorm-order.repository';

@Module({
  imports: [PetsModule],
  controllers: [OrdersController],
  providers: [OrdersService, { provide: OrderRepository, useClass: TypeOrmOrderRepository }],
})
export class OrdersModule {}
