import type { HeadersObject, SchemaObject } from '@nestjs/swagger';
import { MAX_ALLOWANCE } from '../domain/allowance';
import { MAX_URL_LENGTH } from '../http/server/url-check';

/** The longest ban that can be set, and a second for rounding up. */
const MAX_WAIT_SECONDS = 1_000_000;
/** The end of the year 9999. */
const MAX_UNIX_SECONDS = 253_402_300_799;

const integer = (description: string, minimum: number, maximum: number, example: number) => ({
  description,
  required: true,
  schema: { type: 'integer', format: maximum < 2 ** 31 ? 'int32' : 'int64', minimum, maximum } satisfies SchemaObject,
  example,
});
const text = (description: string, pattern: string, maxLength: number, example: string, required = true) => ({
  description,
  required,
  schema: { type: 'string', pattern, maxLength } satisfies SchemaObject,
  example,
});

/** The headers of every response under the base address. */
export const COMMON_HEADERS: HeadersObject = {
  'Access-Control-Allow-Origin': text('Pages of any origin may call the service.', '^\\*$', 1, '*'),
  'X-RateLimit-Limit': integer('Request allowance of the current plan for the window.', 1, MAX_ALLOWANCE, 300),
  'X-RateLimit-Remaining': integer('Requests remaining in the window.', 0, MAX_ALLOWANCE, 299),
  'X-RateLimit-Reset': integer(
    'Unix timestamp, in seconds, at which the limit resets.',
    0,
    MAX_UNIX_SECONDS,
    1_795_219_260,
  ),
  'X-Request-Id': text(
    'Identifies the request in the logs; one that was sent is kept.',
    '^[A-Za-z0-9._~+/=:-]{1,128}$',
    128,
    '2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e',
  ),
};
export const RETRY_AFTER_HEADER: HeadersObject = {
  'Retry-After': integer('Seconds to wait before the next request.', 1, MAX_WAIT_SECONDS, 42),
};
export const CHALLENGE_HEADER: HeadersObject = {
  'WWW-Authenticate': text(
    'The bearer challenge (RFC 6750).',
    '^Bearer realm="petstore"(, error="invalid_token")?$',
    64,
    'Bearer realm="petstore", error="invalid_token"',
  ),
};
export const SCOPE_CHALLENGE_HEADER: HeadersObject = {
  'WWW-Authenticate': text(
    'What the API key lacks (RFC 6750 section 3.1), if its scope is why.',
    '^Bearer realm="petstore", error="insufficient_scope"$',
    64,
    'Bearer realm="petstore", error="insufficient_scope"',
    false,
  ),
};
export const LINK_NEXT_HEADER: HeadersObject = {
  Link: text(
    'When more follow: the address of the next page, with `rel="next"` (RFC 8288).',
    '^<[^<>]+>; rel="next"$',
    MAX_URL_LENGTH,
    '<https://api.example.com/v1/pets?limit=20&cursor=AAAAAAAAABQeDVxO>; rel="next"',
    false,
  ),
};
export const LOCATION_HEADER: HeadersObject = {
  Location: text(
    'The address of what was created.',
    '^\\S*/v1/\\S+$',
    MAX_URL_LENGTH,
    'https://api.example.com/v1/pets/1',
  ),
};
export const REPLAYED_HEADER: HeadersObject = {
  'Idempotent-Replayed': text(
    'Present when the request was executed before and this is its first answer again.',
    '^true$',
    4,
    'true',
    false,
  ),
};
export const DEPRECATION_HEADERS: HeadersObject = {
  Deprecation: text('Since when the operation is deprecated (RFC 9745).', '^@[0-9]+$', 20, '@1795219200', false),
  Sunset: text(
    'When the operation will be removed (RFC 8594).',
    '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$',
    29,
    'Thu, 05 Dec 2030 00:00:00 GMT',
    false,
  ),
  Link: text(
    'Where the deprecation is explained (`rel="deprecation"`) and what replaces the operation (`rel="successor-version"`).',
    '^(<[^<>]+>; rel="deprecation".*, )?<[^<>]+>; rel="successor-version"$',
    MAX_URL_LENGTH,
    '<https://api.example.com/docs#/pets/getPet>; rel="deprecation"; type="text/html", <https://api.example.com/v1/pets>; rel="successor-version"',
    false,
  ),
};
