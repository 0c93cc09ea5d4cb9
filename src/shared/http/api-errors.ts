import { getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../domain/error-codes';
import type { ErrorCatalog } from './error-catalog';
import { ErrorDto } from './error.dto';

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'Something in the request is missing or invalid.',
  401: 'The credential is missing or invalid.',
  404: 'What was asked for could not be found.',
  408: 'The request did not arrive in time; the connection is closed.',
  409: 'What the request is about is not in a state for it.',
  413: 'The body is too large.',
  415: 'The body is not of the media type application/json.',
  414: 'The URL is too long.',
  429: 'A rate limit is exceeded. Wait for the time in `Retry-After`.',
  431: 'The header fields are too large; the connection is closed.',
  500: 'The service failed.',
  503: 'The service cannot answer for the moment. Wait for the time in `Retry-After`.',
};

export const ERROR_CODES = 'petstore:error-codes';

/** Documents errors of an operation, an example for each code; may be given more than once. */
export function ApiErrors(...codes: ErrorCode[]): MethodDecorator {
  return (_target, _name, descriptor) => {
    const handler = descriptor.value as object;
    const earlier = (Reflect.getMetadata(ERROR_CODES, handler) as ErrorCode[] | undefined) ?? [];
    Reflect.defineMetadata(ERROR_CODES, [...earlier, ...codes], handler);
  };
}

/** The OpenAPI response objects of these codes, by status. */
export function errorResponses(catalog: ErrorCatalog, codes: readonly ErrorCode[]) {
  const entries = codes.map((code) => [code, catalog.get(code)] as const);
  const statuses = [...new Set(entries.map(([, { status }]) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const examples = entries
        .filter(([, entry]) => entry.status === status)
        .map(([code, { message }]) => [code, { value: { code, message, status } }] as const);
      return [
        status,
        {
          description: DESCRIPTIONS[status] ?? '',
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
