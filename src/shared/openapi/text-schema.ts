import type { SchemaObject } from '@nestjs/swagger';

/** Returns the OpenAPI schema of free text, for a response; `@IsText()` adds it to a request. */
export function createTextSchema({ maxLength }: { readonly maxLength: number }) {
  return { type: 'string', minLength: 1, maxLength, pattern: '\\S' } as const satisfies SchemaObject;
}
