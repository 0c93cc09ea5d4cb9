import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { parseDateTime, validateDateTime } from '../../domain/date-time';
import { ValidateWith } from './validate-with.decorator';

const MAX_LENGTH = '2026-12-24T09:00:00.000000000+02:00'.length;

/** Validates a body field or query parameter as an RFC 3339 date-time, and transforms it to a Date. */
export function IsDateTime(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', format: 'date-time', maxLength: MAX_LENGTH }),
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? (parseDateTime(value) ?? value) : value)),
    ValidateWith(validateDateTime),
  );
}
