import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsDateTime } from '../../shared/http/validation/is-date-time.decorator';
import { IsInt64 } from '../../shared/http/validation/is-int64.decorator';
import { IsUndefinable } from '../../shared/http/validation/is-undefinable.decorator';
import { ValidateWith } from '../../shared/http/validation/validate-with.decorator';
import { MAX_QUANTITY, type PlaceOrderInput, validateQuantity } from '../domain/order';

@ApiSchema({ name: 'NewOrder', description: 'An order to place.' })
export class CreateOrderDto implements PlaceOrderInput {
  @ApiProperty({ description: 'Identifier of the animal; it must be `available`.', example: 1 })
  @IsInt64()
  readonly petId!: bigint;

  @ApiPropertyOptional({
    description: 'Number of animals ordered.',
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: MAX_QUANTITY,
    default: 1,
    example: 1,
  })
  @ValidateWith(validateQuantity)
  readonly quantity: number = 1;

  @ApiPropertyOptional({
    description: 'When to ship the order (RFC 3339), from 1970 to 9999; stored to the millisecond.',
    example: '2026-12-24T09:00:00Z',
  })
  @IsUndefinable()
  @IsDateTime()
  readonly shipDate?: Date;
}
