import type { HeadersObject } from '@nestjs/swagger';

const integer = (description: string, example: number) => ({
  description,
  required: true,
  schema: { type: 'integer' as const, minimum: 0 },
  example,
});
const text = (description: string, example: string, required = true) => ({
  description,
  required,
  schema: { type: 'string' as const },
  example,
});

/** The headers of every response under the base address. */
export const COMMON_HEADERS: HeadersObject = {
  'X-RateLimit-Limit': integer('Request allowance of the current plan for the window.', 300),
  'X-RateLimit-Remaining': integer('Requests remaining in the window.', 299),
  'X-RateLimit-Reset': integer('Unix timestamp, in seconds, at which the limit resets.', 1_795_219_260),
  'X-Request-Id': text(
    'Identifies the request in the logs; one that was sent is kept.',
    '2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e',
  ),
};
export const RETRY_AFTER_HEADER: HeadersObject = {
  'Retry-After': integer('Seconds to wait before the next request.', 42),
};
export const CHALLENGE_HEADER: HeadersObject = {
  'WWW-Authenticate': text('The bearer challenge (RFC 6750).', 'Bearer realm="petstore", error="invalid_token"'),
};
export const LINK_NEXT_HEADER: HeadersObject = {
  Link: text(
    'When more animals follow: the address of the next page, with `rel="next"` (RFC 8288).',
    '<https://api.example.com/v1/pets?limit=20&cursor=AAAAAAAAABQeDVxO>; rel="next"',
    false,
  ),
};
export const LOCATION_HEADER: HeadersObject = {
  Location: text('The address of the stored animal.', 'https://api.example.com/v1/pets/1'),
};
export const DEPRECATION_HEADERS: HeadersObject = {
  Deprecation: text('Since when the operation is deprecated (RFC 9745).', '@1795219200', false),
  Sunset: text('When the operation will be removed (RFC 8594).', 'Thu, 05 Dec 2030 00:00:00 GMT', false),
  Link: text(
    'Where the deprecation is explained (`rel="deprecation"`) and what replaces the operation (`rel="successor-version"`).',
    '<https://api.example.com/docs#/pets/getPet>; rel="deprecation"; type="text/html", <https://api.example.com/v1/pets>; rel="successor-version"',
    false,
  ),
};
export const REPLAYED_HEADER: HeadersObject = {
  'Idempotent-Replayed': text(
    'Present when the request was executed before and this is its first answer again.',
    'true',
    false,
  ),
};
