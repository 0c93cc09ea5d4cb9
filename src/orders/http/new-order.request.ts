import { parseDateTime } from '../../shared/domain/date-time';
import { int64Schema } from '../../shared/http/int64-schema';
import { IsInt64Body, toInt64 } from '../../shared/http/is-int64';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../../shared/http/openapi-decorators';
import { Satisfies } from '../../shared/http/satisfies';
import { MAX_QUANTITY, type OrderWish, quantityProblem, shipDateProblem } from '../domain/order';

@ApiSchema({ name: 'NewOrder', description: 'An order to place.' })
export class NewOrderRequest implements OrderWish {
  @ApiProperty({ description: 'Identifier of the animal; it must be `available`.', ...int64Schema(), example: 1 })
  @IsInt64Body()
  readonly petId: bigint;

  @ApiPropertyOptional({
    description: 'How many are ordered.',
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: MAX_QUANTITY,
    default: 1,
    example: 1,
  })
  @Satisfies(quantityProblem)
  readonly quantity: number;

  @ApiPropertyOptional({
    description: 'When it is to be shipped (RFC 3339), from 1970 to 9999; kept to the millisecond.',
    type: 'string',
    format: 'date-time',
    maxLength: 35,
    example: '2026-12-24T09:00:00Z',
  })
  @Satisfies(shipDateProblem)
  readonly shipDate: Date | null;

  constructor({ petId, quantity = 1, shipDate }: Readonly<Record<string, unknown>>) {
    this.petId = toInt64(petId);
    this.quantity = quantity as number;
    this.shipDate = shipDate === undefined ? null : toDate(shipDate);
  }
}

/** The moment of a date-time; any other value is no date. */
function toDate(value: unknown): Date {
  return (typeof value === 'string' ? parseDateTime(value) : undefined) ?? new Date(NaN);
}
