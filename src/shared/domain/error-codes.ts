/**
 * Every `code` an Error body can carry, and the HTTP status it goes with.
 * The list is closed: adding a code is compatible, renaming one is not. docs/errors.md explains each.
 */
export const ERROR_STATUS = {
  invalid_parameter: 400,
  invalid_cursor: 400,
  malformed_url: 400,
  malformed_request: 400,
  invalid_json: 400,
  invalid_body: 400,
  invalid_idempotency_key: 400,
  idempotency_key_reused: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  expired_api_key: 401,
  pet_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  body_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  rate_limit_exceeded: 429,
  daily_quota_exceeded: 429,
  key_temporarily_banned: 429,
  too_many_auth_failures: 429,
  headers_too_large: 431,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;
