import type { ResponseObject } from '@nestjs/swagger';
import { AccountsService, KeysService } from '../../src/auth';
import { includesScope } from '../../src/shared/domain/scope';
import { RouteTable } from '../../src/shared/http/routing/route-table';
import { type Examples, loadExamples } from '../support/examples';
import {
  acceptsApiKeys,
  findSuccessStatus,
  isPublic,
  type Operation,
  OPERATIONS,
  requiresField,
} from '../support/operations';
import { type TestResponse, getCode, parseRateLimit, TestService } from '../support/service';

/**
 * Selects operations by their description in the document, never by name: the guarantees apply to new operations too. The tests
 * send API keys, so operations that accept only other credentials are left out.
 */
const selectOperations = (predicate: (operation: Operation) => boolean = () => true) =>
  OPERATIONS.filter((operation) => acceptsApiKeys(operation) || isPublic(operation))
    .filter(predicate)
    .map((operation) => [operation.operationId, operation] as const);
const hasBody = ({ body }: Operation) => body !== undefined;
const isCreation = ({ responses }: Operation) => '201' in responses;
/** Checks whether the operation counts against the plan, by the 429 errors that it documents. */
const isCounted = ({ responses }: Operation) => JSON.stringify(responses['429'] ?? {}).includes('rate_limit_exceeded');
const hasLocation = ({ responses }: Operation) =>
  'Location' in ((responses['201'] as ResponseObject | undefined)?.headers ?? {});
const CREATION_RULE = 'a 201 needs Location and @Idempotent(); otherwise use @HttpCode(200)';
const isIdempotent = ({ parameters = [] }: Operation) =>
  parameters.some((parameter) => 'name' in parameter && parameter.name === 'Idempotency-Key');

/** The paths of public routes that are not in the OpenAPI document. */
const PUBLIC = [
  /^\/$/,
  /^\/healthz$/,
  /^\/readyz$/,
  /^\/metrics$/,
  /^\/openapi(-v\d+)?\.(json|yaml)$/,
  /^\/docs(-yaml)?(\/|$)/,
  /^\/llms\.txt$/,
  /^\/\.well-known\/api-catalog$/,
  /^\/v1\/?$/,
];

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({ AUTH_FAILURES_PER_MINUTE: '1000000' });
});
afterAll(() => service.close());

describe('Every operation in the OpenAPI document', () => {
  let key: string;
  let accountId: string;
  let insertExamples: Examples;

  beforeAll(async () => {
    key = await service.createKey('enterprise', { perMinute: 100_000, perDay: 100_000 });
    accountId = `${(await service.app.get(AccountsService).list()).at(-1)?.id}`;
    insertExamples = await loadExamples();
  });
  // The examples.ts of each module inserts the rows that its examples refer to.
  beforeEach(() => insertExamples((sql) => service.queryAsAdmin(sql), accountId));

  const call = ({ method, path, body }: Operation, headers: Record<string, string> = {}, sent: unknown = body) =>
    service.call(method, path, { key, headers, body: sent });
  const readOutcome = (response: TestResponse) => [response.status, getCode(response)];

  it.each(selectOperations(hasLocation))(
    '(%s) accepts its own example, and returns the URL of what it created',
    async (_, operation) => {
      const response = await call(operation);
      expect(response.status).toBe(201);
      const found = await service.get(new URL(response.headers.location ?? '').pathname, { key });
      expect([found.status, found.text]).toEqual([200, response.text]);
    },
  );

  it.each(selectOperations(acceptsApiKeys))('(%s) rejects requests without a key', async (_, { method, path }) => {
    const closed = await service.call(method, path, { body: '{', headers: { origin: 'https://shop.example' } });
    expect(readOutcome(closed)).toEqual([401, 'missing_api_key']);
    expect(closed.headers).toMatchObject({
      'www-authenticate': 'Bearer realm="petstore"',
      'access-control-allow-origin': '*',
    });
  });

  it.each(selectOperations(isCounted))(
    '(%s) counts against the plan and enforces its limit',
    async (_, { method, path }) => {
      const small = await service.createKey('enterprise', { perMinute: 1, perDay: 10 });
      const [first, second] = [
        await service.call(method, path, { key: small, body: '{' }),
        await service.call(method, path, { key: small, body: '{' }),
      ];
      expect([first.status === 429, parseRateLimit(first).remaining]).toEqual([false, 0]);
      expect(readOutcome(second)).toEqual([429, 'rate_limit_exceeded']);
      expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    },
  );

  it.each(selectOperations(acceptsApiKeys))(
    '(%s) accepts a read-only key if it needs no other scope, and otherwise returns 403',
    async (...args) => {
      const [, operation] = args;
      const account = await service.app.get(AccountsService).create('Test', 'pro');
      const { secret } = await service.app.get(KeysService).create(account.id, null, 'read');
      const { method, path, body } = operation;
      const response = await service.call(method, path, { key: secret, body });
      if (!includesScope(['read'], operation['x-required-scope'] ?? '')) {
        expect(readOutcome(response)).toEqual([403, 'insufficient_scope']);
        expect(response.headers['www-authenticate']).toBe('Bearer realm="petstore", error="insufficient_scope"');
      } else {
        expect(response.status).not.toBe(403);
      }
      // A rejection counts like any other response.
      expect(response.headers.ratelimit).toMatch(isCounted(operation) ? /^"minute";r=299;/ : /^"minute";r=300;/);
    },
  );

  it.each(selectOperations(acceptsApiKeys))(
    '(%s) returns the headers that every response has',
    async (_, operation) => {
      const { status, headers } = await call(operation, { 'x-request-id': 'r-1', origin: 'https://shop.example' });
      expect(status).toBeLessThan(500);
      const documented = (operation.responses[status] as ResponseObject).headers ?? {};
      expect(headers).toMatchObject({
        'x-request-id': 'r-1',
        'x-ratelimit-limit': expect.stringMatching(/^\d+$/) as string,
        'ratelimit-policy': expect.stringMatching(/^"minute";q=100000;w=60, /) as string,
        ratelimit: expect.stringMatching(/^"minute";r=\d+;t=\d+, /) as string,
        'cache-control': 'Cache-Control' in documented ? (expect.any(String) as string) : 'private, no-cache',
        vary: 'Authorization',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
      });
      const preflight = { origin: 'https://shop.example', 'access-control-request-method': operation.method };
      expect((await service.call('OPTIONS', operation.path, { headers: preflight })).status).toBe(204);
    },
  );

  it.each(selectOperations())('(%s) has exactly one URL, and rejects other methods', async (_, operation) => {
    expect(readOutcome(await service.get(`${operation.path}/`, { key }))).toEqual([404, 'route_not_found']);
    expect(readOutcome(await service.get(operation.path.toUpperCase().replace('/V1', '/v1'), { key }))).toEqual([
      404,
      'route_not_found',
    ]);
    // Other operations may have a path with a parameter that matches this one.
    const own = OPERATIONS.filter(({ pattern }) => pattern.test(operation.path)).map(({ method }) => method);
    const other = ['DELETE', 'PATCH', 'PUT', 'POST'].find((method) => !own.includes(method)) ?? 'TRACE';
    const rejected = await service.call(other, operation.path, { key });
    expect(readOutcome(rejected)).toEqual([405, 'method_not_allowed']);
    expect(rejected.headers.allow?.split(', ')).toEqual(expect.arrayContaining(own));
  });

  it.each(selectOperations(({ method }) => method === 'GET'))(
    '(%s) responds to HEAD like to GET, without the body',
    async (_, { path }) => {
      const [get, head] = [await service.get(path, { key }), await service.call('HEAD', path, { key })];
      expect([head.status, head.text]).toEqual([get.status, '']);
      for (const name of ['content-length', 'content-type', 'link', 'deprecation', 'sunset']) {
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
      }
    },
  );

  it.each(selectOperations(hasBody))(
    '(%s) rejects a body that is not a JSON object, is too large or has another media type',
    async (_, operation) => {
      expect(readOutcome(await call(operation, {}, '{'))).toEqual([400, 'invalid_json']);
      const empty = await call(operation, {}, '{}');
      expect(readOutcome(empty)).toEqual(
        requiresField(operation)
          ? [400, Array.isArray(operation.body) ? 'bad_request' : 'invalid_body']
          : [empty.status, undefined],
      );
      expect(readOutcome(await call(operation, {}, 'a'.repeat(65_537)))).toEqual([413, 'body_too_large']);
      expect(readOutcome(await call(operation, { 'content-type': 'text/plain' }, '{}'))).toEqual([
        415,
        'unsupported_media_type',
      ]);
    },
  );

  it('returns the URL of what it creates, and is idempotent', () => {
    const incomplete = OPERATIONS.filter(isCreation).filter((each) => !isIdempotent(each) || !hasLocation(each));
    expect(incomplete.map(({ operationId }) => `${operationId}: ${CREATION_RULE}`)).toEqual([]);
  });

  it.each(selectOperations(isIdempotent))('(%s) is executed once for an Idempotency-Key', async (name, operation) => {
    const headers = { 'idempotency-key': name };
    const [first, again] = [await call(operation, headers), await call(operation, headers)];
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([findSuccessStatus(operation), undefined]);
    expect([again.status, again.text, again.headers.location]).toEqual([
      first.status,
      first.text,
      first.headers.location,
    ]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const other = Array.isArray(operation.body)
      ? [...(operation.body as unknown[]), {}]
      : { ...operation.body, more: 1 };
    expect(readOutcome(await call(operation, headers, other))).toEqual([400, 'idempotency_key_reused']);
  });

  it.each(selectOperations(isIdempotent))('(%s) stores nothing if its execution fails', async (name, operation) => {
    const headers = { 'idempotency-key': `${name}-fails` };
    const failed = await service.withConstraint('idempotency_records', 'body IS NULL', () => call(operation, headers));
    expect(readOutcome(failed)).toEqual([500, 'internal_error']);
    const again = await call(operation, headers);
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([findSuccessStatus(operation), undefined]);
  });
});

describe('Access', () => {
  it('is closed on every route that is not marked public', async () => {
    const open = OPERATIONS.filter(isPublic).map(({ method, path }) => `${method} ${path}`);
    const closed = service.app
      .get(RouteTable)
      .getRoutes()
      .map(({ url, method }) => ({ url, method, path: url.replace(/:\w+/g, '1') }))
      .filter(({ url }) => !PUBLIC.some((pattern) => pattern.test(url)))
      .filter(({ method, path }) => !open.includes(`${method === 'HEAD' ? 'GET' : method} ${path}`));
    expect(closed).toContainEqual(expect.objectContaining({ url: '/v1/pets', method: 'GET' }));
    const problems: string[] = [];
    for (const { url, method, path } of closed) {
      const { status } = await service.call(method, path);
      if (status !== 401) {
        problems.push(
          `${method} ${url} returns ${status} without a key. If it is meant to be @Public(), run \`npm run regenerate\`, ` +
            'or add its path to PUBLIC in test/e2e/every-operation.spec.ts if it is not in openapi.json.',
        );
      }
    }
    expect(problems).toEqual([]);
  });
});
