import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateWith } from './validate-with.decorator';

/** The number of records on a page, as a query parameter: 1 to 100 in decimal digits. */
export function IsPageLimit(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'integer', format: 'int32', minimum: 1, maximum: 100 }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^([1-9]\d?|100)$/.test(value) ? Number(value) : value,
    ),
    ValidateWith((value) =>
      typeof value === 'number' ? undefined : 'must be an integer from 1 to 100 in decimal digits, given once',
    ),
  );
}
