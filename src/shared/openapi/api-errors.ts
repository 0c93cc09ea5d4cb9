import { SetMetadata } from '@nestjs/common';
import { type ExampleObject, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../domain/error-codes';
import { type ErrorCatalog, getGenericCode } from '../http/errors/error-catalog';
import { ErrorDto } from '../http/errors/error.dto';

export const ERROR_CODES_METADATA = 'api:error-codes';

/**
 * Documents errors with an example for each code. On a handler, it applies to that operation; on a controller or guard class,
 * to all its operations. Can be applied more than once.
 */
export function ApiErrors(...codes: ErrorCode[]): MethodDecorator & ClassDecorator {
  return (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor) => {
    const documented = (descriptor?.value as object | undefined) ?? target;
    const earlier = (Reflect.getOwnMetadata(ERROR_CODES_METADATA, documented) as ErrorCode[] | undefined) ?? [];
    Reflect.defineMetadata(ERROR_CODES_METADATA, [...earlier, ...codes], documented);
  };
}

export const OMITTED_ERROR_CODES_METADATA = 'api:omitted-error-codes';

/** Omits errors of a guard from the documentation of an operation that the guard skips. */
export function OmitApiErrors(...codes: ErrorCode[]): MethodDecorator {
  return SetMetadata(OMITTED_ERROR_CODES_METADATA, codes);
}

/** Returns an example response for each code, for `components.examples`. */
export function createErrorExamples(catalog: ErrorCatalog): Record<ErrorCode, ExampleObject> {
  const entries = catalog.codes.map((code) => {
    const { message, status } = catalog.get(code);
    return [code, { value: { code, message, status } satisfies ErrorDto }] as const;
  });
  return Object.fromEntries(entries) as Record<ErrorCode, ExampleObject>;
}

/** Returns the OpenAPI response objects of these codes, by status. */
export function createErrorResponses(catalog: ErrorCatalog, codes: readonly ErrorCode[]) {
  const entries = codes.map((code) => [code, catalog.get(code)] as const);
  const statuses = [...new Set(entries.map(([, { status }]) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const examples = entries
        .filter(([, entry]) => entry.status === status)
        .map(([code]) => [code, { $ref: `#/components/examples/${code}` }] as const);
      return [
        status,
        {
          description: catalog.get(getGenericCode(status)).message,
          content: {
            'application/json': {
              schema: { $ref: getSchemaPath(ErrorDto) },
              examples: Object.fromEntries(examples),
            },
          },
        },
      ];
    }),
  );
}
