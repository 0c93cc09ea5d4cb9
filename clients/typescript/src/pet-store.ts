import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { type operations, OPERATIONS } from './openapi.js';
import { createUnexpectedResponseError } from './pet-store-error.js';
import { type TransportResponse, type RetryOptions, Transport } from './transport.js';

export interface PetStoreOptions extends RetryOptions {
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

export type PetStore = {
  readonly [Id in keyof operations]: (...[input]: Arguments<Id>) => Promise<Output<Id>>;
} & {
  /** Iterates over all items of a list, across all pages. */
  paginate<Id extends ListId>(id: Id, ...[input]: Arguments<Id>): AsyncGenerator<Item<Id>, void>;
};

interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** A client with one method for each operation in the OpenAPI document. */
export function createPetStore({ baseUrl, apiKey, fetch = globalThis.fetch, ...retries }: PetStoreOptions): PetStore {
  const transport = new Transport(fetch, retries);

  async function call(id: OperationId, { path, query, header, body, signal }: AnyInput, search?: string) {
    const { method, path: template, takesIdempotencyKey } = OPERATIONS[id];
    const headers = new Headers({ Authorization: `Bearer ${apiKey}`, ...serializeValues(header) });
    if (body !== undefined) {
      headers.set('Content-Type', 'application/json');
    }
    if (takesIdempotencyKey && !headers.has('Idempotency-Key')) {
      headers.set('Idempotency-Key', crypto.randomUUID());
    }
    const url = baseUrl.replace(/\/$/, '') + expandPath(template, path) + (search ?? serializeQuery(query));
    const isIdempotent = method === 'GET' || headers.has('Idempotency-Key');
    return transport.send({ url, method, headers, body: stringify(body), isIdempotent }, signal);
  }

  async function* paginate(id: OperationId, input: AnyInput = {}): AsyncGenerator<unknown, void> {
    let search: string | undefined;
    do {
      const response = await call(id, input, search);
      yield* parseBody(id, response) as unknown[];
      search = parseNextSearch(response);
    } while (search !== undefined);
  }

  const methods = Object.keys(OPERATIONS).map((name) => {
    const id = name as OperationId;
    return [id, async (input: AnyInput = {}) => parseBody(id, await call(id, input))] as const;
  });
  return { ...Object.fromEntries(methods), paginate } as PetStore;
}

/** Reads int64 fields as bigint; all other number fields have types that a number represents exactly. */
function parseBody(id: OperationId, { response, text }: TransportResponse): unknown {
  const int64: readonly string[] = OPERATIONS[id].int64;
  if (text === '' && response.status === 204) {
    return undefined;
  }
  try {
    return parse(text, (name, value) => {
      if (!isLosslessNumber(value)) {
        return value;
      }
      return int64.includes(name) ? BigInt(value.value) : Number(value.value);
    });
  } catch (cause) {
    throw createUnexpectedResponseError(response, cause);
  }
}

/** Returns the query of the next page. The host is ignored, so that the key is sent to the base URL only. */
function parseNextSearch({ response }: TransportResponse): string | undefined {
  const [, next] = /<([^>]*)>;\s*rel="next"/.exec(response.headers.get('Link') ?? '') ?? [];
  return next === undefined ? undefined : new URL(next, response.url).search;
}

function expandPath(template: string, path: AnyInput['path'] = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
}

function serializeQuery(query: AnyInput['query']): string {
  const search = new URLSearchParams(serializeValues(query)).toString();
  return search === '' ? '' : `?${search}`;
}

/** Omits undefined parameters. */
function serializeValues(parameters: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
