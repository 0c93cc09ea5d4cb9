import { ApiResponse, schemaPath } from './openapi-decorators';
import { ERROR_STATUS, type ErrorCode } from '../domain/error-codes';

/** What each code says, for the document's examples. */
const EXAMPLE_MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_parameter: 'limit must be an integer from 1 to 100 in decimal digits, given once.',
  invalid_cursor:
    'cursor is damaged or belongs to another status filter. Take it unchanged from the Link header, or start again without it.',
  malformed_url: 'The URL has a malformed percent-encoding.',
  malformed_request: 'The request is not well-formed HTTP.',
  invalid_json: 'The body is not valid JSON.',
  invalid_body: 'name is required; categoryId must be an integer from -9223372036854775808 to 9223372036854775807.',
  invalid_idempotency_key: 'Idempotency-Key must be 1 to 255 visible ASCII characters, quoted or bare, sent once.',
  idempotency_key_reused: 'This Idempotency-Key came with another request before. Use a new key for a new request.',
  missing_api_key: 'An API key is required. Send it in the header Authorization: Bearer <API_KEY>.',
  invalid_api_key: 'The API key is not valid. Check that it is complete and not revoked.',
  expired_api_key: 'The API key has expired. Use a newer key of the account.',
  pet_not_found: 'No animal has this petId.',
  request_timeout: 'The request did not arrive in time.',
  uri_too_long: 'The URL must be at most 8000 characters long.',
  headers_too_large: 'The request header fields are too large.',
  body_too_large: 'The body must be at most 65536 bytes.',
  unsupported_media_type: 'The body must be application/json in UTF-8.',
  rate_limit_exceeded: "The plan's requests for this minute are used up. Wait for the time in Retry-After.",
  daily_quota_exceeded: "The plan's requests for this day (UTC) are used up. Wait for the time in Retry-After.",
  key_temporarily_banned:
    'This API key is banned for a while, because it kept sending requests after 429. Wait for the time in Retry-After.',
  too_many_auth_failures:
    'Too many requests without a valid API key came from this address. Wait for the time in Retry-After, or send a valid key.',
  internal_error: 'Something went wrong inside the service. Report it with the X-Request-Id.',
  service_unavailable: 'The service cannot reach its database right now. Retry after the time in Retry-After.',
};

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'Something in the request is missing or invalid.',
  401: 'The credential is missing or invalid.',
  404: 'What was asked for could not be found.',
  408: 'The request did not arrive in time; the connection is closed.',
  413: 'The body is too large.',
  415: 'The body is not of the media type application/json.',
  414: 'The URL is too long.',
  429: 'A rate limit is exceeded. Wait for the time in `Retry-After`.',
  431: 'The header fields are too large; the connection is closed.',
  500: 'The service failed.',
  503: 'The service cannot answer for the moment. Wait for the time in `Retry-After`.',
};

const CODES = 'petstore:error-codes';

/** Documents errors of an operation, an example for each code; may be given more than once. */
export function ApiErrors(...codes: ErrorCode[]): MethodDecorator {
  return (target, name, descriptor) => {
    const handler = descriptor.value as object;
    const all = [...((Reflect.getMetadata(CODES, handler) as ErrorCode[] | undefined) ?? []), ...codes];
    Reflect.defineMetadata(CODES, all, handler);
    for (const [status, response] of Object.entries(errorResponses(...all))) {
      ApiResponse({ status: Number(status), ...response })(target, name, descriptor);
    }
  };
}

/** The OpenAPI response objects of these codes, by status. */
export function errorResponses(...codes: ErrorCode[]) {
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))];
  return Object.fromEntries(
    statuses.map((status) => {
      const examples = codes
        .filter((code) => ERROR_STATUS[code] === status)
        .map((code) => [code, { value: { code, message: EXAMPLE_MESSAGES[code] ?? '', status } }] as const);
      return [
        status,
        {
          description: DESCRIPTIONS[status] ?? '',
          content: {
            'application/json': {
              schema: { $ref: schemaPath('Error') },
              examples: Object.fromEntries(examples),
            },
          },
        },
      ];
    }),
  );
}
