import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { isInt64, parsePositiveInt64 } from '../../domain/int64';
import { createInt64Schema } from '../../openapi/int64-schema';
import { ValidateWith } from './validate-with.decorator';

/** Validates a field of a JSON body as an int64, and transforms it to a bigint. */
export function IsInt64(): PropertyDecorator {
  return applyDecorators(
    ApiProperty(createInt64Schema()),
    Transform(({ value }: { value: unknown }) => (Number.isInteger(value) ? BigInt(value as number) : value)),
    ValidateWith((value) =>
      isInt64(value) ? undefined : 'must be an integer from -9223372036854775808 to 9223372036854775807',
    ),
  );
}

/** Validates a query parameter as a positive int64 in canonical decimal form, and transforms it to a bigint. */
export function IsPositiveInt64String(): PropertyDecorator {
  return applyDecorators(
    ApiProperty(createInt64Schema(1n)),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? (parsePositiveInt64(value) ?? value) : value,
    ),
    ValidateWith((value) =>
      isInt64(value)
        ? undefined
        : 'must be a positive integer of at most 9223372036854775807 in decimal digits, given once',
    ),
  );
}
