import { SetMetadata } from '@nestjs/common';
import { type ExampleObject, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../domain/error-codes';
import type { ErrorCatalog } from '../http/errors/error-catalog';
import { ErrorDto } from '../http/errors/error.dto';

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'A part of the request is missing or invalid.',
  401: 'The credential is missing or invalid.',
  403: 'The API key is valid but does not permit this operation.',
  404: 'The resource does not exist.',
  405: 'The method is not allowed for this URL.',
  406: 'No media type in the `Accept` header is supported.',
  408: 'The request did not arrive in time; the connection is closed.',
  409: 'The request conflicts with the current state of the resource.',
  410: 'The resource no longer exists.',
  412: 'The resource has changed in the meantime.',
  413: 'The body is too large.',
  414: 'The URL is too long.',
  415: 'The media type of the body is not application/json.',
  422: 'The request is well-formed but cannot be processed.',
  429: 'A rate limit is exceeded. Wait for the number of seconds in `Retry-After`.',
  431: 'The header fields are too large; the connection is closed.',
  500: 'An internal error occurred.',
  501: 'The service does not support this yet.',
  502: 'An upstream service returned an invalid response.',
  503: 'The service is temporarily unavailable. Wait for the number of seconds in `Retry-After`.',
  504: 'An upstream service did not respond in time.',
};

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

/** @throws Error for a status that has no description yet */
function describeStatus(status: number): string {
  const description = DESCRIPTIONS[status];
  if (description === undefined) {
    throw new Error(
      `No description of status ${status} for the OpenAPI document: add one to src/shared/openapi/api-errors.ts.`,
    );
  }
  return description;
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
          description: describeStatus(status),
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
