import type { SchemaObject } from '@nestjs/swagger';
import { INT64_MAX, INT64_MIN } from '../domain/int64';

/** Returns the OpenAPI schema of an int64. Its bounds are bigints, so the document has them exactly. */
export function createInt64Schema(minimum: bigint = INT64_MIN) {
  return {
    type: 'integer',
    format: 'int64',
    minimum: minimum as unknown as number,
    maximum: INT64_MAX as unknown as number,
  } as const satisfies SchemaObject;
}
