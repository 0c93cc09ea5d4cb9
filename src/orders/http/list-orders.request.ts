import { int64Schema } from '../../shared/http/int64-schema';
import { IsPositiveInt64Query, toPositiveInt64 } from '../../shared/http/is-int64';
import { ApiPropertyOptional } from '../../shared/http/openapi-decorators';
import { PageRequest } from '../../shared/http/page.request';
import { IsIn, IsOptional } from '../../shared/http/validation';
import { ORDER_STATUSES, type OrderStatus } from '../domain/order';

export class ListOrdersRequest extends PageRequest {
  @ApiPropertyOptional({
    description: 'Only orders with this status are listed.',
    enum: ORDER_STATUSES,
    enumName: 'OrderStatus',
    example: 'placed',
  })
  @IsOptional()
  @IsIn(ORDER_STATUSES, { message: `status must be one of ${ORDER_STATUSES.join(', ')}, given once` })
  readonly status: OrderStatus | undefined;

  @ApiPropertyOptional({ description: 'Only orders for this animal are listed.', ...int64Schema(1n), example: 1 })
  @IsOptional()
  @IsPositiveInt64Query()
  readonly petId: bigint | undefined;

  constructor(query: Readonly<Record<string, unknown>>) {
    super(query);
    this.status = query.status as OrderStatus | undefined;
    this.petId = toPositiveInt64(query.petId);
  }
}
