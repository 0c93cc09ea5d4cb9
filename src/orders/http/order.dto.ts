import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { createInt64Schema } from '../../shared/openapi/int64-schema';
import { MAX_QUANTITY, type Order, ORDER_STATUSES, type OrderStatus } from '../domain/order';

const DATE_TIME_LENGTH = '2026-12-24T09:00:00.000Z'.length;

/** The status of an order, as a named schema in the OpenAPI document. */
export const ORDER_STATUS_SCHEMA = {
  enum: ORDER_STATUSES,
  enumName: 'OrderStatus',
  enumSchema: {
    description:
      '`placed`: the order was received. `approved`: it was accepted. `delivered`: the animal has been delivered.',
  },
};

/** The order as clients see it: a domain field stays private until it is added here. */
@ApiSchema({ name: 'Order', description: 'An order of the account.' })
export class OrderDto {
  @ApiProperty({
    description: 'Unique identifier, assigned by the service on creation.',
    ...createInt64Schema(1n),
    example: 1,
  })
  readonly id: bigint;

  @ApiProperty({ description: 'Identifier of the animal.', ...createInt64Schema(1n), example: 1 })
  readonly petId: bigint;

  @ApiProperty({
    description: 'Number of animals ordered.',
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: MAX_QUANTITY,
    example: 1,
  })
  readonly quantity: number;

  @ApiProperty({
    description: 'Progress of the order.',
    ...ORDER_STATUS_SCHEMA,
    example: 'placed',
  })
  readonly status: OrderStatus;

  @ApiPropertyOptional({
    description: 'When the order is to be shipped, in UTC; absent if not given.',
    type: 'string',
    format: 'date-time',
    maxLength: DATE_TIME_LENGTH,
    example: '2026-12-24T09:00:00.000Z',
  })
  readonly shipDate: string | undefined;

  @ApiProperty({
    description: 'When the order was placed, in UTC.',
    type: 'string',
    format: 'date-time',
    maxLength: DATE_TIME_LENGTH,
    example: '2026-11-21T12:00:00.000Z',
  })
  readonly placedAt: string;

  constructor({ id, petId, quantity, status, shipDate, placedAt }: Order) {
    this.id = id;
    this.petId = petId;
    this.quantity = quantity;
    this.status = status;
    this.shipDate = shipDate?.toISOString();
    this.placedAt = placedAt.toISOString();
  }
}
