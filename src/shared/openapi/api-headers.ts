import type { HeaderObject, HeadersObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import { removeVersion } from '../../config/settings';
import { MAX_REQUEST_LIMIT } from '../domain/allowance';
import { BEARER_CHALLENGE } from '../http/errors/error.filter';
import { MAX_URL_LENGTH } from '../http/access/url-check';

/** The longest ban that can be configured, plus a second for rounding. */
const MAX_WAIT_SECONDS = 1_000_000;
/** The end of the year 9999. */
const MAX_UNIX_SECONDS = 253_402_300_799;
/** The longest list of windows in a header. */
const MAX_WINDOWS_LENGTH = 1_000;

const createIntegerHeader = (description: string, minimum: number, maximum: number, example: number) => ({
  description,
  required: true,
  schema: { type: 'integer', format: maximum < 2 ** 31 ? 'int32' : 'int64', minimum, maximum } satisfies SchemaObject,
  example,
});
const createTextHeader = (
  description: string,
  pattern: string,
  maxLength: number,
  example: string,
  required = true,
) => ({
  description,
  required,
  schema: { type: 'string', pattern, maxLength } satisfies SchemaObject,
  example,
});

const createDeprecationHeader = (required: boolean) =>
  createTextHeader(
    'The date on which the operation was deprecated (RFC 9745).',
    '^@[0-9]+$',
    20,
    '@1795219200',
    required,
  );
const createSunsetHeader = (required: boolean) =>
  createTextHeader(
    'The date on which the operation will be removed (RFC 8594).',
    '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$',
    29,
    'Thu, 05 Dec 2030 00:00:00 GMT',
    required,
  );
const createDeprecationLinkHeader = (root: string, baseUrl: string, required: boolean) =>
  createTextHeader(
    'The page that explains the deprecation (`rel="deprecation"`), and the operation to use instead (`rel="successor-version"`).',
    '^(<[^<>]+>; rel="deprecation".*, )?<[^<>]+>; rel="successor-version"(, <[^<>]+>; rel="next")?$',
    MAX_URL_LENGTH,
    `<${root}/docs/reference#/pets/getPet>; rel="deprecation"; type="text/html", <${baseUrl}/pets>; rel="successor-version"`,
    required,
  );
const REQUEST_ID_PATTERN = '^[A-Za-z0-9._~+/=:-]{1,128}$';
const REQUEST_ID_MAX_LENGTH = 128;

/**
 * Creates the response headers, which a document defines once under `components.headers`.
 * @param baseUrl the URL of the version that the document describes, such as `https://api.example.com/v1`
 */
export const createHeaderComponents = (baseUrl: string) => {
  const root = removeVersion(baseUrl);
  return {
    'Access-Control-Allow-Origin': createTextHeader('Web pages from any origin may call the service.', '^\\*$', 1, '*'),
    'X-RateLimit-Limit': createIntegerHeader(
      'Request allowance of the current plan for the window.',
      1,
      MAX_REQUEST_LIMIT,
      300,
    ),
    'X-RateLimit-Remaining': createIntegerHeader('Requests remaining in the window.', 0, MAX_REQUEST_LIMIT, 299),
    'X-RateLimit-Reset': createIntegerHeader(
      'Unix timestamp, in seconds, at which the limit resets.',
      0,
      MAX_UNIX_SECONDS,
      1_795_219_260,
    ),
    'RateLimit-Policy': createTextHeader(
      'The limit of each window (`q`) and its length in seconds (`w`).',
      '^"[^"]+";q=[0-9]+;w=[0-9]+(, "[^"]+";q=[0-9]+;w=[0-9]+)*$',
      MAX_WINDOWS_LENGTH,
      '"minute";q=300;w=60, "day";q=10000;w=86400',
    ),
    RateLimit: createTextHeader(
      'The requests remaining in each window (`r`) and the seconds until it resets (`t`).',
      '^"[^"]+";r=[0-9]+;t=[0-9]+(, "[^"]+";r=[0-9]+;t=[0-9]+)*$',
      MAX_WINDOWS_LENGTH,
      '"minute";r=299;t=60, "day";r=9999;t=43200',
    ),
    'X-Request-Id': createTextHeader(
      'The ID of the request in the logs. A valid ID in the request is echoed; otherwise one is generated.',
      REQUEST_ID_PATTERN,
      REQUEST_ID_MAX_LENGTH,
      '2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e',
    ),
    'Retry-After': createIntegerHeader('Seconds to wait before the next request.', 1, MAX_WAIT_SECONDS, 42),
    'WWW-Authenticate': createTextHeader(
      'The bearer challenge (RFC 6750).',
      `^${BEARER_CHALLENGE}(, error="invalid_token")?$`,
      64,
      `${BEARER_CHALLENGE}, error="invalid_token"`,
    ),
    'WWW-Authenticate-Scope': createTextHeader(
      'Present when the API key lacks the required scope (RFC 6750 section 3.1).',
      `^${BEARER_CHALLENGE}, error="insufficient_scope"$`,
      64,
      `${BEARER_CHALLENGE}, error="insufficient_scope"`,
      false,
    ),
    'Link-Next': createTextHeader(
      'The URL of the next page, with `rel="next"` (RFC 8288); absent on the last page.',
      '^<[^<>]+>; rel="next"$',
      MAX_URL_LENGTH,
      `<${baseUrl}/pets?limit=20&cursor=AAAAAAAAABQeDVxO>; rel="next"`,
      false,
    ),
    Location: createTextHeader(
      'The URL of the created resource.',
      `^\\S*${baseUrl.slice(root.length)}/\\S+$`,
      MAX_URL_LENGTH,
      `${baseUrl}/pets/1`,
    ),
    'Idempotent-Replayed': createTextHeader(
      'Present when this is the stored response of an earlier request with the same `Idempotency-Key`.',
      '^true$',
      4,
      'true',
      false,
    ),
    Deprecation: createDeprecationHeader(true),
    Sunset: createSunsetHeader(true),
    'Link-Deprecation': createDeprecationLinkHeader(root, baseUrl, true),
    'Error-Link-Deprecation': createDeprecationLinkHeader(root, baseUrl, false),
    'Error-Deprecation': createDeprecationHeader(false),
    'Error-Sunset': createSunsetHeader(false),
    'Link-Help': createTextHeader(
      'The page that explains the error (`rel="help"`), after any deprecation links.',
      '^(<[^<>]+>; rel="[a-z-]+"(; type="text/html")?, )*<[^<>]+>; rel="help"; type="text/html"$',
      MAX_URL_LENGTH,
      `<${root}/docs/errors#pet_not_found>; rel="help"; type="text/html"`,
    ),
  } satisfies Record<string, HeaderObject>;
};

const createReference = (name: keyof ReturnType<typeof createHeaderComponents>) => ({
  $ref: `#/components/headers/${name}`,
});

/** The headers of every response under the base URL. */
export const COMMON_HEADERS: HeadersObject = {
  'Access-Control-Allow-Origin': createReference('Access-Control-Allow-Origin'),
  'X-RateLimit-Limit': createReference('X-RateLimit-Limit'),
  'X-RateLimit-Remaining': createReference('X-RateLimit-Remaining'),
  'X-RateLimit-Reset': createReference('X-RateLimit-Reset'),
  'RateLimit-Policy': createReference('RateLimit-Policy'),
  RateLimit: createReference('RateLimit'),
  'X-Request-Id': createReference('X-Request-Id'),
};
export const RETRY_AFTER_HEADER: HeadersObject = { 'Retry-After': createReference('Retry-After') };
export const CHALLENGE_HEADER: HeadersObject = { 'WWW-Authenticate': createReference('WWW-Authenticate') };
export const SCOPE_CHALLENGE_HEADER: HeadersObject = { 'WWW-Authenticate': createReference('WWW-Authenticate-Scope') };
export const LINK_NEXT_HEADER: HeadersObject = { Link: createReference('Link-Next') };
export const LOCATION_HEADER: HeadersObject = { Location: createReference('Location') };
export const REPLAYED_HEADER: HeadersObject = { 'Idempotent-Replayed': createReference('Idempotent-Replayed') };
export const HELP_HEADER: HeadersObject = { Link: createReference('Link-Help') };
export const DEPRECATION_HEADERS: HeadersObject = {
  Deprecation: createReference('Deprecation'),
  Sunset: createReference('Sunset'),
  Link: createReference('Link-Deprecation'),
};
/** Optional, because an error may occur before the interceptor runs. */
export const ERROR_DEPRECATION_HEADERS: HeadersObject = {
  Deprecation: createReference('Error-Deprecation'),
  Sunset: createReference('Error-Sunset'),
  Link: createReference('Error-Link-Deprecation'),
};

/** The request header that every operation accepts. */
export const REQUEST_ID_PARAMETER: ParameterObject = {
  name: 'X-Request-Id',
  in: 'header',
  description:
    'An ID for the request, which is echoed in the response and appears in the logs. An invalid value is replaced by a generated one.',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: REQUEST_ID_MAX_LENGTH, pattern: REQUEST_ID_PATTERN },
  example: '2a1b6a3e-7c5d-4f10-9d0e-3f1c2b4a5d6e',
};
