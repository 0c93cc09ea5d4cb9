import { type RateLimit, readNextLink, readRateLimit } from './headers.js';
import { parseJson, requireExact, stringify } from './json.js';
import { type operations, OPERATIONS } from './openapi.js';
import { createUnexpectedResponseError, PetStoreError } from './pet-store-error.js';
import { Transport, type TransportOptions, type TransportRequest, type TransportResponse } from './transport.js';

export interface PetStoreOptions extends TransportOptions {
  /** The base URL with the version, such as `https://api.petstore.example/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The function that sends each attempt. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

export type OperationId = keyof operations;

/** The input of an operation: the parts of the request in the OpenAPI document, and a signal to abort it. */
export type Input<Id extends OperationId> = Pick<operations[Id]['parameters'], 'path' | 'query' | 'header'> &
  (operations[Id] extends { requestBody: { content: { 'application/json': infer Body } } }
    ? { readonly body: Body }
    : unknown) & { readonly signal?: AbortSignal };

/** The body of the successful response of an operation. */
export type Output<Id extends OperationId> =
  Success<operations[Id]['responses']> extends {
    content: { 'application/json': infer Body };
  }
    ? Body
    : undefined;

type Success<Responses> = Responses[keyof Responses & (200 | 201 | 202 | 204)];

/** An operation that returns a page of a list. */
export type ListId = { [Id in OperationId]: Output<Id> extends readonly unknown[] ? Id : never }[OperationId];

type Item<Id extends ListId> = Output<Id> extends readonly (infer Element)[] ? Element : never;

type Arguments<Id extends OperationId> = Partial<Input<Id>> extends Input<Id> ? [input?: Input<Id>] : [Input<Id>];

/** The body of a successful response, and what its headers say. */
export interface Result<Id extends OperationId> {
  readonly data: Output<Id>;
  readonly status: number;
  readonly headers: Headers;
  /** Identifies the request in the service's logs. */
  readonly requestId: string | undefined;
  /** Whether this is the stored response to an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
  readonly rateLimit: RateLimit | undefined;
}

export type PetStore = {
  readonly [Id in keyof operations]: (...[input]: Arguments<Id>) => Promise<Output<Id>>;
} & {
  /** Iterates over all items of a list, across all pages. */
  paginate<Id extends ListId>(id: Id, ...[input]: Arguments<Id>): AsyncGenerator<Item<Id>, void>;
  /** Calls an operation, and returns the headers of the response too. */
  withResponse<Id extends OperationId>(id: Id, ...[input]: Arguments<Id>): Promise<Result<Id>>;
};

/** RFC 9110, section 9.2.2. */
const IDEMPOTENT_METHODS = ['GET', 'PUT', 'DELETE'];

interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** A URL without credentials, or a path in browsers, without a query. */
const BASE_URL = /^(https?:\/\/(?![^/]*@)|\.{0,2}\/)[^?#\s]*$/i;

/**
 * Creates a client with one method for each operation in the OpenAPI document.
 * @throws PetStoreError for an invalid option
 */
export function createPetStore({ baseUrl, apiKey, fetch = globalThis.fetch, ...options }: PetStoreOptions): PetStore {
  if (!BASE_URL.test(baseUrl) || !URL.canParse(baseUrl, 'http://localhost')) {
    const message = `baseUrl must be a URL such as https://api.petstore.example/v1, not ${JSON.stringify(baseUrl)}.`;
    throw new PetStoreError('invalid_input', message);
  }
  const transport = new Transport(fetch, options);

  function createRequest(id: OperationId, { path, query, header, body }: AnyInput): TransportRequest {
    const { method, path: template, takesIdempotencyKey, isRateLimited } = OPERATIONS[id];
    const headers = createHeaders({ Authorization: `Bearer ${apiKey}`, ...serializeValues(header) });
    if (body !== undefined) {
      headers.set('Content-Type', 'application/json');
    }
    if (takesIdempotencyKey && !headers.has('Idempotency-Key')) {
      headers.set('Idempotency-Key', createRandomKey());
    }
    const url = baseUrl.replace(/\/$/, '') + expandPath(template, path) + serializeQuery(query);
    const isIdempotent = IDEMPOTENT_METHODS.includes(method) || headers.has('Idempotency-Key');
    return { url, method, headers, body: stringify(body), isIdempotent, isRateLimited };
  }

  async function withResponse(id: OperationId, input: AnyInput = {}) {
    const response = await transport.send(createRequest(id, input), input.signal);
    const { status, headers } = response.response;
    return {
      data: parseBody(id, response),
      status,
      headers,
      requestId: headers.get('X-Request-Id') ?? undefined,
      isReplayed: headers.get('Idempotent-Replayed') === 'true',
      rateLimit: readRateLimit(headers),
    };
  }

  async function* paginate(id: OperationId, input: AnyInput = {}): AsyncGenerator<unknown, void> {
    const request = createRequest(id, input);
    const visited = new Set<string>();
    for (let next: string | undefined = request.url; next !== undefined;) {
      const response = await transport.send({ ...request, url: next }, input.signal);
      yield* parseBody(id, response) as unknown[];
      visited.add(next);
      next = parseNextUrl(response, next);
      if (next !== undefined && visited.has(next)) {
        throw createUnexpectedResponseError(
          response.response,
          'its link to the next page leads back to an earlier one',
        );
      }
    }
  }

  const methods = Object.keys(OPERATIONS).map((name) => {
    const id = name as OperationId;
    return [id, async (input?: AnyInput) => (await withResponse(id, input)).data] as const;
  });
  return { ...Object.fromEntries(methods), paginate, withResponse } as PetStore;
}

/** Reads int64 fields as bigint; all other number fields have types that a number represents exactly. */
function parseBody(id: OperationId, { response, text }: TransportResponse): unknown {
  const { schema, isList, required } = OPERATIONS[id];
  let body: unknown;
  try {
    body = text === '' && response.status === 204 ? undefined : parseJson(text, schema);
  } catch (cause) {
    throw createUnexpectedResponseError(response, 'its body is not valid JSON', cause);
  }
  const isComplete = (value: unknown) => required.every((name) => name in Object(value));
  if (Array.isArray(body) !== isList || ![body].flat().every(isComplete)) {
    throw createUnexpectedResponseError(response, `its body is not the one of ${id}`);
  }
  return body;
}

/**
 * Returns the URL of the next page. Its host is ignored, so that the key is sent to the base URL only.
 * @throws PetStoreError for a malformed link
 */
function parseNextUrl({ response }: TransportResponse, current: string): string | undefined {
  const link = readNextLink(response.headers);
  if (link === undefined) {
    return undefined;
  }
  const [path = ''] = current.split('?');
  try {
    // In browsers, the base URL may be a path.
    return path + new URL(link, new URL(current, 'http://localhost')).search;
  } catch (cause) {
    throw createUnexpectedResponseError(response, 'its link to the next page is malformed', cause);
  }
}

/** @throws PetStoreError for a value that a header cannot contain */
function createHeaders(values: Readonly<Record<string, string>>): Headers {
  for (const [name, value] of Object.entries(values)) {
    if (!/^[\t\x20-\x7e]*$/.test(value.trim())) {
      const what = name === 'Authorization' ? 'The API key' : name;
      throw new PetStoreError('invalid_input', `${what} contains a character that is not visible ASCII.`);
    }
  }
  return new Headers(values);
}

/** `crypto.randomUUID` is missing in pages that are loaded over plain HTTP. */
function createRandomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function expandPath(template: string, path: AnyInput['path'] = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(requireExact(path[name]))));
}

function serializeQuery(query: AnyInput['query']): string {
  const search = new URLSearchParams(serializeValues(query)).toString();
  return search === '' ? '' : `?${search}`;
}

/** Omits undefined parameters. */
function serializeValues(parameters: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(requireExact(value))]));
}
