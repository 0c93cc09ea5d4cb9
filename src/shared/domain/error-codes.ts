/**
 * The errors that belong to no single module, with their messages. A message that depends on the request is an example. Of those with one
 * status, the last is that of Nest's exceptions.
 */
export const SHARED_ERROR_MESSAGES = {
  invalid_parameter: 'limit must be an integer from 1 to 100 in decimal digits, given once.',
  invalid_cursor:
    'cursor is damaged or was made for other filters. Use it unchanged from the Link header, or start again without it.',
  malformed_url: 'The URL contains malformed percent-encoding.',
  malformed_request: 'The request is not well-formed HTTP.',
  invalid_json: 'The body is not valid JSON.',
  invalid_body: 'name is required; categoryId must be an integer from -9223372036854775808 to 9223372036854775807.',
  bad_request: 'The request is not valid.',
  unauthorized: 'The request lacks valid credentials.',
  forbidden: 'The API key does not allow this.',
  route_not_found: 'No operation has this path. Paths have no trailing slash, and case matters.',
  not_found: 'The requested resource does not exist.',
  method_not_allowed: 'DELETE is not allowed here. Use GET, HEAD, or POST.',
  not_acceptable: 'No available representation matches the Accept header.',
  request_timeout: 'The request did not arrive in time.',
  conflict: 'The request conflicts with the current state.',
  gone: 'The requested resource no longer exists.',
  precondition_failed: 'A precondition of the request failed.',
  body_too_large: 'The body must be at most 65536 bytes.',
  uri_too_long: 'The URL must be at most 8000 characters long.',
  unsupported_media_type: 'The body must be application/json in UTF-8.',
  unprocessable_content: 'The request is well-formed, but cannot be carried out.',
  too_many_requests: 'Too many requests. Try again later.',
  headers_too_large: 'The request header fields are too large.',
  internal_error: 'An internal error occurred. Report it with the X-Request-Id of this response.',
  not_implemented: 'The service does not implement this.',
  bad_gateway: 'An upstream service returned an invalid response.',
  service_unavailable: 'The service is temporarily unavailable. Retry after the number of seconds in Retry-After.',
  gateway_timeout: 'An upstream service did not respond in time.',
} as const satisfies Readonly<Record<string, string>>;

/** The error codes by the module that owns them. A module adds its own by declaration merging. */
export interface ErrorCodes {
  readonly shared: keyof typeof SHARED_ERROR_MESSAGES;
}

/** Every `code` of an Error body. Adding one is compatible, renaming one is not. docs/errors.md documents each. */
export type ErrorCode = ErrorCodes[keyof ErrorCodes];
