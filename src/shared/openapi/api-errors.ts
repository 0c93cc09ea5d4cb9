import { SetMetadata } from '@nestjs/common';
import { type ExampleObject, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../domain/error-codes';
import type { ErrorCatalog } from '../http/errors/error-catalog';
import { ErrorDto } from '../http/errors/error.dto';

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'Something in the request is missing or invalid.',
  401: 'The credential is missing or invalid.',
  403: 'The key is valid, but does not allow this.',
  404: 'What was asked for could not be found.',
  405: 'The method is not allowed for this URL.',
  406: 'No response has a media type that the request accepts.',
  408: 'The request did not arrive in time; the connection is closed.',
  409: 'What the request is about is not in a state for it.',
  410: 'What was asked for exists no more.',
  412: 'What the request is about has changed in the meantime.',
  413: 'The body is too large.',
  414: 'The URL is too long.',
  415: 'The body is not of the media type application/json.',
  422: 'The request is well-formed, but cannot be carried out.',
  429: 'A rate limit is exceeded. Wait for the time in `Retry-After`.',
  431: 'The header fields are too large; the connection is closed.',
  500: 'The service failed.',
  501: 'The service does not do this yet.',
  502: 'A service that this one depends on returned an invalid response.',
  503: 'The service cannot answer for the moment. Wait for the time in `Retry-After`.',
  504: 'A service that this one depends on did not respond in time.',
};

export const ERROR_CODES = 'petstore:error-codes';

/**
 * Documents errors, with an example for each code: of an operation, on its handler; of all operations of a controller, or of all
 * that a guard protects, on the class. May be given more than once.
 */
export function ApiErrors(...codes: ErrorCode[]): MethodDecorator & ClassDecorator {
  return (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor) => {
    const documented = (descriptor?.value as object | undefined) ?? target;
    const earlier = (Reflect.getOwnMetadata(ERROR_CODES, documented) as ErrorCode[] | undefined) ?? [];
    Reflect.defineMetadata(ERROR_CODES, [...earlier, ...codes], documented);
  };
}

export const OMITTED_ERROR_CODES = 'petstore:omitted-error-codes';

/** Leaves errors of a guard out of the document of an operation that the guard does not apply to. */
export function OmitApiErrors(...codes: ErrorCode[]): MethodDecorator {
  return SetMetadata(OMITTED_ERROR_CODES, codes);
}

/** @throws Error for a status that no error had so far */
function describeStatus(status: number): string {
  const description = DESCRIPTIONS[status];
  if (description === undefined) {
    throw new Error(
      `No description of status ${status} for the OpenAPI document: add one to src/shared/openapi/api-errors.ts.`,
    );
  }
  return description;
}

/** An example of the response for each code, which the document has once, under `components.examples`. */
export function errorExamples(catalog: ErrorCatalog): Record<ErrorCode, ExampleObject> {
  const entries = catalog.codes.map((code) => {
    const { message, status } = catalog.get(code);
    return [code, { value: { code, message, status } satisfies ErrorDto }] as const;
  });
  return Object.fromEntries(entries) as Record<ErrorCode, ExampleObject>;
}

/** The OpenAPI response objects of these codes, by status. */
export function errorResponses(catalog: ErrorCatalog, codes: readonly ErrorCode[]) {
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
