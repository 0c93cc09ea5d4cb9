/**
 * Every `code` an Error body can carry, the HTTP status it goes with, and what it says; where that depends on the request,
 * an example of it. The list is closed: adding a code is compatible, renaming one is not. docs/errors.md explains each.
 */
export const ERRORS = {
  invalid_parameter: [400, 'limit must be an integer from 1 to 100 in decimal digits, given once.'],
  invalid_cursor: [
    400,
    'cursor is damaged or belongs to another filter. Take it unchanged from the Link header, or start again without it.',
  ],
  malformed_url: [400, 'The URL has a malformed percent-encoding.'],
  malformed_request: [400, 'The request is not well-formed HTTP.'],
  invalid_json: [400, 'The body is not valid JSON.'],
  invalid_body: [
    400,
    'name is required; categoryId must be an integer from -9223372036854775808 to 9223372036854775807.',
  ],
  invalid_idempotency_key: [
    400,
    'Idempotency-Key must be 1 to 255 visible ASCII characters, quoted or bare, sent once.',
  ],
  idempotency_key_reused: [
    400,
    'This Idempotency-Key came with another request before. Use a new key for a new request.',
  ],
  unknown_pet: [400, 'No animal has the petId of the order.'],
  missing_api_key: [401, 'An API key is required. Send it in the header Authorization: Bearer <API_KEY>.'],
  invalid_api_key: [401, 'The API key is not valid. Check that it is complete and not revoked.'],
  expired_api_key: [401, 'The API key has expired. Use a newer key of the account.'],
  pet_not_found: [404, 'No animal has this petId.'],
  order_not_found: [404, 'No order of the account has this orderId.'],
  route_not_found: [404, 'No operation has this path. Paths have no trailing slash, and case matters.'],
  method_not_allowed: [405, 'DELETE is not allowed here. Use GET or HEAD.'],
  pet_not_available: [409, 'The animal is not available any more.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  body_too_large: [413, 'The body must be at most 65536 bytes.'],
  uri_too_long: [414, 'The URL must be at most 8000 characters long.'],
  unsupported_media_type: [415, 'The body must be application/json in UTF-8.'],
  rate_limit_exceeded: [429, "The plan's requests for this minute are used up. Wait for the time in Retry-After."],
  daily_quota_exceeded: [429, "The plan's requests for this day (UTC) are used up. Wait for the time in Retry-After."],
  key_temporarily_banned: [
    429,
    'This API key is banned for a while, because it kept sending requests after 429. Wait for the time in Retry-After.',
  ],
  too_many_auth_failures: [
    429,
    'Too many requests without a valid API key came from this address. Wait for the time in Retry-After, or send a valid key.',
  ],
  headers_too_large: [431, 'The request header fields are too large.'],
  internal_error: [500, 'Something went wrong inside the service. Report it with the X-Request-Id.'],
  service_unavailable: [503, 'The service cannot reach its database right now. Retry after the time in Retry-After.'],
} as const satisfies Readonly<Record<string, readonly [status: number, message: string]>>;

export type ErrorCode = keyof typeof ERRORS;

export function statusOf(code: ErrorCode): number {
  return ERRORS[code][0];
}
