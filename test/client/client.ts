/**
 * A client of the service, as docs/getting-started.md shows it. The types in `petstore.ts` are made from the OpenAPI
 * document by `npm run client:types`.
 */
// #region connect
import ky, { isHTTPError } from 'ky';
import { parse, parseNumberAndBigInt, stringify } from 'lossless-json';
import createClient, { type Client } from 'openapi-fetch';
import type { components, operations, paths } from './petstore.js';

export type Pet = components['schemas']['Pet'];
export type NewPet = components['schemas']['NewPet'];
export type PetQuery = NonNullable<operations['listPets']['parameters']['query']>;

/** @param baseUrl the base address of the service, with the version: `http://127.0.0.1:3000/v1` */
export function connect(baseUrl: string, key: string): Client<paths> {
  return createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${key}` },
    bodySerializer: (body) => stringify(body),
    fetch: fetchWithRetries,
  });
}

/** Reads the animals of an answer: their integers are int64, so all become bigint. */
const parseExactly = (json: string) => parse(json, undefined, parseNumberAndBigInt);
// #endregion

// #region retries
const ATTEMPT_MS = 10_000;
const RETRIES = 4;
/** A caller should not hang for longer: `daily_quota_exceeded` may ask for hours. It gets the error instead. */
const LONGEST_WAIT_SECONDS = 120;

/** Sends a request again when that may help and does no harm; ky waits for as long as `Retry-After` says. */
async function fetchWithRetries(request: Request): Promise<Response> {
  const isRepeatable = request.method === 'GET' || request.headers.has('Idempotency-Key');
  try {
    return await ky(request, {
      timeout: ATTEMPT_MS,
      retry: {
        limit: isRepeatable ? RETRIES : 0,
        methods: ['get', 'post'],
        statusCodes: [429, 502, 503, 504],
        retryOnTimeout: true,
        // Undefined leaves it to the settings above.
        shouldRetry: ({ error }) =>
          isHTTPError(error) && Number(error.response.headers.get('Retry-After')) > LONGEST_WAIT_SECONDS
            ? false
            : undefined,
      },
    });
  } catch (error) {
    if (isHTTPError(error)) {
      return error.response;
    }
    throw error;
  }
}
// #endregion

// #region errors
/** The codes this program knows. The service may add others. */
export const CODES = [
  'invalid_parameter',
  'invalid_cursor',
  'malformed_url',
  'malformed_request',
  'invalid_json',
  'invalid_body',
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'missing_api_key',
  'invalid_api_key',
  'expired_api_key',
  'pet_not_found',
  'route_not_found',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'uri_too_long',
  'unsupported_media_type',
  'rate_limit_exceeded',
  'daily_quota_exceeded',
  'key_temporarily_banned',
  'too_many_auth_failures',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
] as const;

export type Code = (typeof CODES)[number] | 'unknown';

export class PetStoreError extends Error {
  readonly code: Code;
  readonly status: number;
  readonly requestId: string | null;

  /** @param body an `Error` of the service, or whatever else a gateway before it answered */
  constructor(body: unknown, response: Response) {
    const { code, message } = (body ?? {}) as Partial<components['schemas']['Error']>;
    super(message ?? response.statusText);
    this.code = CODES.find((known) => known === code) ?? 'unknown';
    this.status = response.status;
    this.requestId = response.headers.get('X-Request-Id');
  }
}

/** What to tell the user: by the code where it matters, else by the status. */
export function explain({ code, status, message, requestId }: PetStoreError): string {
  switch (code) {
    case 'invalid_body':
      return `Correct the animal: ${message}`;
    case 'missing_api_key':
    case 'invalid_api_key':
    case 'expired_api_key':
      return 'Enter another API key.';
    case 'daily_quota_exceeded':
      return 'That was all for today.';
    default:
      return status < 500 ? message : `The pet store does not work right now (request ${requestId}).`;
  }
}
// #endregion

// #region create
/** Adds an animal, once however often it is called with this idempotency key and animal. */
export async function createPet(
  api: Client<paths>,
  pet: NewPet,
  idempotencyKey: string = crypto.randomUUID(),
): Promise<Pet> {
  const { data, error, response } = await api.POST('/pets', {
    params: { header: { 'Idempotency-Key': idempotencyKey } },
    body: pet,
    parseAs: 'text',
  });
  if (data === undefined) {
    throw new PetStoreError(error, response);
  }
  return parseExactly(data) as Pet;
}
// #endregion

// #region list
/** All animals, page after page, until no `Link` names a next one. */
export async function* listPets(api: Client<paths>, query: PetQuery = {}): AsyncGenerator<Pet> {
  let cursor: string | undefined;
  do {
    const { data, error, response } = await api.GET('/pets', {
      params: { query: { ...query, cursor } },
      parseAs: 'text',
    });
    if (data === undefined) {
      throw new PetStoreError(error, response);
    }
    yield* parseExactly(data) as Pet[];
    cursor = nextCursor(response);
  } while (cursor !== undefined);
}

function nextCursor({ headers, url }: Response): string | undefined {
  const [, next] = /<([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '') ?? [];
  return next === undefined ? undefined : (new URL(next, url).searchParams.get('cursor') ?? undefined);
}
// #endregion

// #region use
/** Adds an animal, and prints all there are. */
export async function main(baseUrl: string, key: string): Promise<void> {
  const api = connect(baseUrl, key);
  try {
    await createPet(api, { name: 'Max', categoryId: 9_223_372_036_854_775_807n });
    for await (const { id, name, categoryId } of listPets(api)) {
      console.log(`${id} ${name} ${categoryId}`);
    }
  } catch (error) {
    if (!(error instanceof PetStoreError)) {
      throw error;
    }
    console.error(explain(error));
  }
}
// #endregion
