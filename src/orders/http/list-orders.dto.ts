import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IsPositiveInt64String } from '../../shared/http/validation/is-int64.decorator';
import { IsUndefinable } from '../../shared/http/validation/is-undefinable.decorator';
import { PageQueryDto } from '../../shared/http/pagination/page-query.dto';
import { ORDER_STATUSES, type OrderStatus } from '../domain/order';
import { ORDER_STATUS_SCHEMA } from './order.dto';

export class ListOrdersQueryDto extends PageQueryDto {
  @ApiPropertyOptional({
    description: 'Return only orders with this status.',
    ...ORDER_STATUS_SCHEMA,
    example: 'placed',
  })
  @IsUndefinable()
  @IsIn(ORDER_STATUSES, { message: `status must be one of ${ORDER_STATUSES.join(', ')}, given once` })
  readonly status?: OrderStatus;

  @ApiPropertyOptional({ description: 'Return only orders for this animal.', example: 1 })
  @IsUndefinable()
  @IsPositiveInt64String()
  readonly petId?: bigint;
}
