import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { ValidationOptions } from 'class-validator';
import { validateText } from '../../domain/text';
import { createTextSchema } from '../../openapi/text-schema';
import { ValidateWith } from './validate-with.decorator';

/**
 * Validates a field as free text, or with `each` as an array of texts: 1 to `maxLength` characters that PostgreSQL can store, and not only
 * whitespace.
 */
export function IsText({ maxLength }: { readonly maxLength: number }, options?: ValidationOptions): PropertyDecorator {
  const schema = createTextSchema({ maxLength });
  return applyDecorators(
    ApiProperty(options?.each === true ? { type: 'array', items: schema } : schema),
    ValidateWith((value) => validateText(value, { maxLength }), options),
  );
}
