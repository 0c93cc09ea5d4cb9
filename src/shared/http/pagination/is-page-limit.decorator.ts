import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { MAX_PAGE_LIMIT } from '../../domain/page-limit';
import { ValidateWith } from '../validation/validate-with.decorator';

/** Validates the query parameter for the page size: 1 to `MAX_PAGE_LIMIT` in decimal digits. */
export function IsPageLimit(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'integer', format: 'int32', minimum: 1, maximum: MAX_PAGE_LIMIT }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^[1-9]\d*$/.test(value) && Number(value) <= MAX_PAGE_LIMIT ? Number(value) : value,
    ),
    ValidateWith((value) =>
      typeof value === 'number'
        ? undefined
        : `must be an integer from 1 to ${MAX_PAGE_LIMIT} in decimal digits, given once`,
    ),
  );
}
