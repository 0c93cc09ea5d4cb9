import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { validateCharacters } from '../../domain/text';
import { stringifyJson } from '../../json/json';
import { ValidateWith } from './validate-with.decorator';

/**
 * Validates a field as a JSON object that a `jsonb` column can store, of at most `maxBytes`. Its decimals are doubles, and it has no field
 * named `__proto__`, `constructor` or `prototype`, because no body has.
 */
export function IsJsonObject({ maxBytes }: { readonly maxBytes: number }): PropertyDecorator {
  return applyDecorators(
    // class-transformer would leave out keys such as `toString`.
    Transform(({ obj, key }) => (obj as Readonly<Record<string, unknown>>)[key]),
    ApiProperty({ type: 'object', additionalProperties: true }),
    ValidateWith((value) => validateJsonObject(value, maxBytes)),
  );
}

function validateJsonObject(value: unknown, maxBytes: number): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'must be a JSON object';
  }
  return Buffer.byteLength(stringifyJson(value)) > maxBytes
    ? `must be at most ${maxBytes} bytes long`
    : validateContent(value);
}

/** The JSON of a body is nested at most 64 levels deep. */
function validateContent(value: unknown): string | undefined {
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) {
    return 'must not contain integers beyond 2^53, or numbers that are too large';
  }
  if (typeof value === 'string') {
    return validateCharacters(value);
  }
  const fields = typeof value === 'object' && value !== null ? Object.entries(value).flat() : [];
  return fields.map(validateContent).find((problem) => problem !== undefined);
}
