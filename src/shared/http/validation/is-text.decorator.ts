import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { validateText } from '../../domain/text';
import { createTextSchema } from '../../openapi/text-schema';
import { ValidateWith } from './validate-with.decorator';

/** Validates a field as free text: 1 to `maxLength` characters that PostgreSQL can store, and not only whitespace. */
export function IsText({ maxLength }: { readonly maxLength: number }): PropertyDecorator {
  return applyDecorators(
    ApiProperty(createTextSchema({ maxLength })),
    ValidateWith((value) => validateText(value, { maxLength })),
  );
}
