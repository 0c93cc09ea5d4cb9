import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateWith } from './validate-with.decorator';

/** NUL or a lone surrogate, as JSON.stringify escapes them. */
const UNSTORABLE_TEXT = /(?<!\\)(\\\\)*\\u(0000|d[89a-f][\da-f]{2})/;

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
  const inexact: unknown[] = [];
  const text = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint' || (typeof each === 'number' && !Number.isFinite(each))) {
      inexact.push(each);
    }
    return typeof each === 'bigint' ? each.toString() : each;
  });
  if (Buffer.byteLength(text) > maxBytes) {
    return `must be at most ${maxBytes} bytes long`;
  }
  if (inexact.length > 0) {
    return 'must not contain integers beyond 2^53, or numbers that are too large';
  }
  return UNSTORABLE_TEXT.test(text) ? 'must not contain NUL or a lone surrogate' : undefined;
}
