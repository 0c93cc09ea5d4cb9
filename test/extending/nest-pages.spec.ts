import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import session from '@fastify/session';
import { Module } from '@nestjs/common';
import { ContextIdFactory, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { getOptionsToken } from '@nestjs/throttler';
import { DataSource } from 'typeorm';
import { WebSocket } from 'ws';
import { AppModule } from '../../src/app.module';
import { configureApp } from '../../src/app.setup';
import { AccountsService, KeysService } from '../../src/auth';
import { loadSettings } from '../../src/config/settings';
import { FEATURE_MODULES } from '../../src/feature-modules';
import { createLog } from '../../src/observability';
import type { FeatureModule } from '../../src/shared/feature-module';
import { createHttpAdapter } from '../../src/shared/http/server/http-adapter';
import { dereference } from '../openapi/dereference.cjs';
import { TestClock } from '../support/test-clock';
import { ADMIN_DATABASE_URL, queryAsAdmin } from '../support/worker-database';
import { DATABASE_PAGE } from './nest-pages/database';
import { EXCEPTIONS, FundamentalsModule, TenantContextIdStrategy } from './nest-pages/fundamentals';
import { OthersModule } from './nest-pages/others';
import { OverviewModule } from './nest-pages/overview';
import { TechniquesModule } from './nest-pages/techniques';

/** The headers that every response under /v1 has. */
const INTERNAL_ERROR = 'An internal error occurred. Report it with the X-Request-Id of this response.';
const COMMON_HEADERS = ['x-request-id', 'x-ratelimit-limit', 'x-content-type-options', 'access-control-allow-origin'];

interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

@Module({ imports: [OverviewModule, FundamentalsModule, TechniquesModule, DATABASE_PAGE.module, OthersModule] })
class PagesModule {}

describe("What the pages of Nest's documentation show works in a fork:", () => {
  let app: NestFastifyApplication;
  let url: string;
  let accountId: bigint;
  let key: string;
  const clock = new TestClock();
  const lines: string[] = [];

  beforeAll(async () => {
    const settings = loadSettings({ DATABASE_URL: ADMIN_DATABASE_URL, LOG_LEVEL: 'info' });
    (FEATURE_MODULES as unknown as FeatureModule[]).push(DATABASE_PAGE);
    // As createApp does, so that middleware is registered when it is in production.
    app = await NestFactory.create<NestFastifyApplication>(
      { module: PagesModule, imports: [AppModule.forRoot(settings, clock)] },
      createHttpAdapter(settings),
      { logger: false, abortOnError: false },
    );
    // As in rate-limiting.module.ts.
    const { throttlers } = app.get<{ throttlers: object[] }>(getOptionsToken());
    throttlers.push({ name: 'short', limit: Infinity, ttl: 1_000 }, { name: 'long', limit: Infinity, ttl: 60_000 });
    await app.register(cookie);
    await app.register(session, { secret: randomBytes(32).toString('hex'), cookie: { secure: false } });
    await app.register(compress, { threshold: 100, encodings: ['gzip'] });
    app.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
      request.headers['x-shop'] ??= 'global middleware';
      if (request.url === '/v1/cats/text') {
        response.setHeader('X-Frame-Options', 'SAMEORIGIN').setHeader('Vary', 'Accept-Encoding');
      }
      next();
    });
    app.useWebSocketAdapter(new WsAdapter(app));
    ContextIdFactory.apply(new TenantContextIdStrategy());
    await configureApp(app, settings, createLog(settings, { write: (line) => lines.push(line) })).listen(
      0,
      '127.0.0.1',
    );
    url = await app.getUrl();
    const allowance = { perMinute: 100_000, perDay: 100_000 };
    accountId = (await app.get(AccountsService).create('Acme', 'enterprise', allowance)).id;
    key = (await app.get(KeysService).create(accountId)).secret;
  });
  afterAll(async () => {
    await app.close();
    const applied = DATABASE_PAGE.migrations.map(({ name }) => `'${name}'`).join();
    await queryAsAdmin(
      `DROP SCHEMA "media" CASCADE; DROP TABLE "user"; DELETE FROM migrations WHERE name IN (${applied})`,
    );
  });

  const call = async (method: string, path: string, headers: Record<string, string> = {}, body?: string | FormData) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json;') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined,
    } satisfies Response;
  };
  const get = (path: string, headers?: Record<string, string>) => call('GET', path, headers);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call('POST', path, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));
  const expectError = ({ status, headers, body }: Response, code: string, message?: string) => {
    expect(body).toEqual({ code, message: message ?? (expect.any(String) as string), status });
    expect(COMMON_HEADERS.filter((name) => !headers.has(name))).toEqual([]);
  };

  describe('controllers', () => {
    it('accept a body, and set a header', async () => {
      const created = await post('/v1/cats', { name: 'Rex', age: 3, more: 1 });
      expect([created.status, created.body, created.headers.get('x-cat')]).toEqual([
        201,
        { id: 1, name: 'Rex', age: 3 },
        'yes',
      ]);
      expect((await get('/v1/cats')).body).toEqual([{ id: 1, name: 'Rex', age: 3 }]);
    });

    it('return text, observables, another status, and responses by Fastify itself', async () => {
      const text = await get('/v1/cats/text');
      expect([text.headers.get('x-frame-options'), text.headers.get('vary')]).toEqual(['SAMEORIGIN', 'Authorization']);
      expect([text.text, text.headers.get('content-type')]).toEqual(['Hello, default', 'text/plain; charset=utf-8']);
      expect((await get('/v1/cats/stream')).body).toEqual(['Rex']);
      expect((await get('/v1/cats/status')).status).toBe(202);
      expect((await get('/v1/cats/native')).body).toEqual({ isNative: true });
    });

    it('redirect to a fixed URL and to one that the handler returns', async () => {
      const fixed = await get('/v1/cats/docs');
      expect([fixed.status, fixed.headers.get('location')]).toEqual([302, 'https://docs.nestjs.com']);
      expect((await get('/v1/cats/docs?version=5')).headers.get('location')).toBe('https://docs.nestjs.com/v5/');
    });

    it('use wildcards, parameters and a status without a body', async () => {
      expect((await get('/v1/cats/abcd/e/f')).status).toBe(200);
      expect((await call('DELETE', '/v1/cats/1')).status).toBe(204);
      expectError(await call('DELETE', '/v1/cats/0'), 'bad_request', 'Bad Request');
      expect((await call('DELETE', '/v1/cats/1', { 'content-type': 'application/json' })).status).toBe(204);
    });

    it('read the request, its headers and the IP address', async () => {
      expect((await get('/v1/cats/context', { 'x-shop': 'a' })).body).toEqual({
        method: 'GET',
        shop: 'a',
        ip: '127.0.0.1',
      });
    });

    it('read one field of the body, and the body of the request object', async () => {
      expect((await post('/v1/cats/field', { name: 'Rex' })).body).toEqual({ name: 'Rex' });
      expect((await post('/v1/cats/request', { age: 3 })).body).toEqual({ age: 3 });
    });

    it('get no field that would change the prototype of a copy', async () => {
      const json = { 'content-type': 'application/json' };
      for (const digits of ['1', '9007199254740993']) {
        const body = `{"a":[{"__proto__":{"isAdmin":true},"\\u005f_proto__":1}],"constructor":{"prototype":{}},"age":${digits}}`;
        expect((await call('POST', '/v1/cats/request', json, body)).text).toBe(`{"a":[{}],"age":${digits}}`);
      }
    });

    it('can have the root path, in development too', async () => {
      expect((await get('/')).text).toBe('Hello World!');
    });

    it('accept every method with @All()', async () => {
      for (const method of ['GET', 'POST', 'DELETE', 'PATCH', 'OPTIONS']) {
        expect((await call(method, '/v1/cats/any')).body).toEqual({ method });
      }
    });

    it('are found by host', async () => {
      const { body } = await app.inject({
        url: '/v1/info',
        headers: { authorization: `Bearer ${key}`, host: 'acme.example.com' },
      });
      expect(body).toBe('{"account":"acme"}');
    });

    it('without a version are outside of /v1, and need a key too', async () => {
      expect((await get('/plain')).text).toBe('This action returns all cats');
      expect((await get('/plain', { authorization: '' })).status).toBe(401);
    });
  });

  describe('middleware', () => {
    it('runs as a class and as a function, for the routes of a controller', async () => {
      expect((await get('/v1/middleware')).body).toEqual({ seen: ['class', 'true', 'function'] });
      expect((await post('/v1/middleware', { name: 'Rex', age: 3 })).body).toEqual({
        seen: ['class', 'true', 'function'],
        body: { name: 'Rex', age: 3 },
      });
    });

    it('does not run for excluded routes', async () => {
      expect((await get('/v1/middleware/excluded')).body).toEqual({ seen: [] });
    });

    it('can be a global function', async () => {
      expect((await get('/v1/cats/context')).body).toMatchObject({ shop: 'global middleware' });
    });

    it('can throw an exception, or pass on an error', async () => {
      expectError(await get('/v1/middleware/closed'), 'forbidden', 'Closed by middleware.');
      const failed = await get('/v1/middleware/failing');
      expectError(failed, 'internal_error');
      expect(failed.text).not.toContain('secret');
    });

    it('can end the response, which is logged', async () => {
      const ended = await get('/v1/middleware/ending', { 'x-request-id': 'ended-by-middleware' });
      expect([ended.status, ended.text]).toEqual([202, 'ended']);
      expect(lines.filter((line) => line.includes('ended-by-middleware'))).toHaveLength(1);
    });

    it('does not see CORS preflights', async () => {
      const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
      expect((await call('OPTIONS', '/v1/middleware/closed', headers)).status).toBe(204);
    });
  });

  describe('exception filters and exceptions', () => {
    it('can be bound to a handler', async () => {
      const response = await get('/v1/filters/bound');
      expect([response.status, response.body]).toEqual([418, { statusCode: 418, path: '/v1/filters/bound' }]);
    });

    it('can have a body of their own, whose text becomes the message', async () => {
      expectError(await get('/v1/filters/custom'), 'forbidden', 'This is a custom message');
      expectError(await get('/v1/filters/described'), 'bad_request', 'Something bad happened');
      expectError(await get('/v1/filters/late'), 'forbidden', 'Too late.');
      expectError(await get('/v1/filters/validation'), 'bad_request', 'Bad Request Exception');
    });

    it('of plugins of Fastify keep their status', async () => {
      expectError(await get('/v1/filters/plugin'), 'body_too_large', 'The file is too large.');
    });

    it.each(EXCEPTIONS)('%s keeps its status and has an Error body', async (name, Exception) => {
      const status = new Exception('').getStatus();
      const response = await get(`/v1/exceptions/${name}`);
      expect(response.status).toBe(status);
      expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer realm="petstore"' : null);
      expect(response.body).toEqual({
        code: expect.stringMatching(/^[a-z_]+$/) as string,
        message: status < 500 ? 'As thrown.' : (expect.not.stringContaining('As thrown.') as string),
        status,
      });
    });

    it.each([402, 418, 423, 451, 500, 508])('an exception with the status %i keeps it', async (status) => {
      const response = await get(`/v1/exceptions/status/${status}`);
      expect(response.status).toBe(status);
      expectError(response, status < 500 ? 'bad_request' : 'internal_error', status < 500 ? 'As thrown.' : undefined);
    });

    it('an exception with the status of a success is a 500, and one without a message gets one', async () => {
      const success = await get('/v1/exceptions/status/200');
      expect(success.status).toBe(500);
      expectError(success, 'internal_error', INTERNAL_ERROR);
      expectError(await get('/v1/exceptions/empty'), 'conflict', expect.stringMatching(/^[A-Z].+\.$/) as string);
    });
  });

  describe('pipes', () => {
    it('parse integers', async () => {
      expect((await get('/v1/pipes/int/7')).body).toEqual({ id: 7 });
      expectError(await get('/v1/pipes/int/x'), 'bad_request', 'Validation failed (numeric string is expected)');
      expect((await get('/v1/pipes/status/x')).status).toBe(406);
    });

    it('parse floats, booleans, arrays, enums, UUIDs and dates, have defaults, and can be own ones', async () => {
      const query = 'price=1.5&ids=1,2&color=black&since=2026-11-21T00:00:00Z&name=%20Rex%20';
      expect((await get(`/v1/pipes/many?${query}`)).body).toEqual({
        price: 1.5,
        isOpen: false,
        ids: [1, 2],
        color: 'black',
        since: '2026-11-21T00:00:00.000Z',
        name: 'query Rex',
      });
      for (const wrong of ['price=x', 'isOpen=x', 'ids=x', 'color=red', 'id=x', 'since=x']) {
        expectError(await get(`/v1/pipes/many?${wrong}&${query.replace(/\w+/, 'other')}`), 'bad_request');
      }
    });

    it('can be asynchronous and inject services', async () => {
      expect((await get('/v1/pipes/cats/3')).body).toEqual({ id: 3, name: 'Cat of true', age: 1 });
    });

    it('parse the items of an array in the body', async () => {
      const cats = ['Rex', 'Mia'].map((name) => ({ name, age: 3 }));
      const { body } = await post(
        '/v1/cats/items',
        cats.map((cat) => ({ ...cat, id: 1 })),
      );
      expect(body).toEqual({ cats, areDtos: true });
      expectError(await post('/v1/cats/items', [{ name: 'Rex', age: 'x' }]), 'bad_request');
    });

    it('can validate by a schema of another library', async () => {
      expect((await post('/v1/pipes/schema', { name: 'Rex' })).body).toEqual({ name: 'Rex' });
      expectError(await post('/v1/pipes/schema', {}), 'bad_request', 'Validation failed');
    });

    it('can be an own ValidationPipe with other options', async () => {
      expect((await post('/v1/pipes/own', { name: 'Rex', age: 3 })).status).toBe(201);
    });

    it('run asynchronous rules', async () => {
      expect((await post('/v1/pipes/async', { name: 'free' })).body).toEqual({ name: 'free' });
      expectError(await post('/v1/pipes/async', { name: 'taken' }), 'invalid_body', 'name is taken.');
    });

    it('read fields by the name of @Expose()', async () => {
      expect((await post('/v1/pipes/exposed', { sort_by: 'name' })).body).toEqual({ sortBy: 'name' });
      expect((await get('/v1/pipes/sorted?sort_by=age')).body).toEqual({ sortBy: 'age', tags: [] });
    });

    it('give each request its own query, which the handler can change', async () => {
      for (let request = 0; request < 3; request++) {
        expect((await get('/v1/pipes/sorted?sort_by=x&tags=a&tags=b')).body).toEqual({
          sortBy: 'x',
          tags: ['a', 'b'],
        });
        expect((await get('/v1/pipes/sorted')).body).toEqual({ tags: [] });
      }
    });

    it('keep int64 values exact', async () => {
      const big = '{"petId":9223372036854775807}';
      const response = await call('POST', '/v1/pipes/big', { 'content-type': 'application/json' }, big);
      expect(response.text).toBe(big);
      expect((await get('/v1/pipes/big/9223372036854775807')).text).toBe('{"id":9223372036854775807}');
    });
  });

  describe('guards and custom decorators', () => {
    it('admit by role, return 403 for false, and can throw', async () => {
      expect((await get('/v1/guards', { 'x-roles': 'admin', 'x-name': '7' })).body).toEqual({
        user: { name: '7', roles: 'admin' },
        name: 7,
      });
      expectError(await get('/v1/guards', { 'x-roles': 'user' }), 'forbidden');
      expectError(await get('/v1/guards', { 'x-name': 'nobody' }), 'unauthorized', 'Unauthorized');
    });

    it('see the body', async () => {
      const [rex, tom] = [
        { name: 'Rex', age: 3 },
        { name: 'Tom', age: 3 },
      ];
      expect((await post('/v1/guards', rex)).body).toEqual(rex);
      expectError(await post('/v1/guards', tom), 'forbidden');
    });
  });

  describe('interceptors', () => {
    it('change the result of an idempotent operation alike, with and without a key and in a replay', async () => {
      const once = async (headers?: Record<string, string>) => (await post('/v1/interceptors/once', {}, headers)).text;
      const headers = { 'idempotency-key': 'transform' };
      const texts = [await once(), await once(headers), await once(headers)];
      expect(texts).toEqual(Array(3).fill('{"data":{"id":9223372036854775807}}'));
    });

    it('run before and after the handler, and change its result', async () => {
      expect((await get('/v1/interceptors/transform')).body).toEqual({ data: { lines: ['before transform'] } });
    });

    it('change errors, skip the handler, and end it after a time', async () => {
      expectError(await get('/v1/interceptors/errors'), 'bad_gateway');
      expect((await get('/v1/interceptors/cache')).body).toEqual(['cached']);
      expectError(await get('/v1/interceptors/timeout'), 'request_timeout');
    });
  });

  describe('fundamentals', () => {
    it('custom, asynchronous and circular providers, and dynamic modules', async () => {
      expect((await get('/v1/fundamentals/providers')).body).toEqual({
        shelf: 'toys',
        alias: 'toys',
        connection: 'connected',
        hen: 'hen from egg',
      });
    });

    it('module references, lazy modules, lifecycle events, discovery, and the execution context', async () => {
      expect((await get('/v1/fundamentals/references')).body).toEqual({
        lazy: 'lazy',
        created: 'lazy',
        lifecycle: ['init', 'bootstrap'],
        plugins: ['first'],
        context: 'http FundamentalsController.getReferences',
      });
    });

    it('request-scoped and transient providers', async () => {
      const [one, other] = [(await get('/v1/scopes')).body, (await get('/v1/scopes')).body] as { id: string }[];
      expect(one).toMatchObject({
        accountId: expect.any(Number) as number,
        url: '/v1/scopes',
        parent: 'ScopesController',
      });
      expect(one?.id).not.toBe(other?.id);
    });

    it('durable providers', async () => {
      const read = async (tenant: string) => (await get('/v1/durable', { 'x-tenant': tenant })).body as { id: string };
      const [first, again, other] = [await read('a'), await read('a'), await read('b')];
      expect([first.id === again.id, first.id === other.id]).toEqual([true, false]);
      expect(other).toMatchObject({ tenant: 'b' });
    });
  });

  describe('techniques', () => {
    it('configuration and task scheduling', async () => {
      expect((await get('/v1/tasks')).body).toEqual({ host: 'localhost' });
    });

    it('caching', async () => {
      expect([(await get('/v1/cache')).body, (await get('/v1/cache')).body]).toEqual([{ calls: 1 }, { calls: 1 }]);
      expect((await get('/v1/cache/manual')).body).toEqual({ value: 'value' });
    });

    it('serialization', async () => {
      expect((await get('/v1/serialization')).text).toBe(
        '{"id":9007199254740993,"firstName":"Ada","role":"admin","fullName":"Ada Lovelace"}',
      );
      expect((await get('/v1/serialization/type')).text).not.toContain('secret');
    });

    it('serialization of an idempotent operation: its record and its replay hide what the first response hides', async () => {
      const once = async () => (await post('/v1/serialization/once', {}, { 'idempotency-key': 'serialize' })).text;
      const [first, replay] = [await once(), await once()];
      expect(first).toContain('"role":"admin","fullName"');
      expect(replay).toBe(first);
      const records = await app.get(DataSource).query<object[]>('SELECT body FROM idempotency_records');
      expect(JSON.stringify(records)).not.toContain('secret');
    });

    it('serialization, caching and interceptors of lists, which are arrays to them', async () => {
      await post('/v1/pets', { name: 'Rex', categoryId: 3, status: 'available' });
      const [{ name, categoryId }] = (await get('/v1/pets?limit=1')).body as [{ name: string; categoryId: number }];
      const [plain, serialized, changed, other] = await Promise.all(
        ['', '/serialized', '/changed', ''].map((path) => get(`/v1/lists${path}`)),
      );
      const pets = [{ name, categoryId }];
      expect([plain?.body, other?.body]).toEqual([pets, pets]);
      expect(serialized?.body).toEqual([{ name }]);
      expect(changed?.body).toEqual([{ name: name.toUpperCase(), categoryId }]);
      expect([(await get('/v1/lists/cached')).body, (await get('/v1/lists/cached')).body]).toEqual([pets, pets]);
    });

    it('cookies', async () => {
      const { body, headers } = await get('/v1/cookies', { cookie: 'name=Rex' });
      expect(body).toEqual({ name: 'Rex' });
      expect(headers.getSetCookie()).toContainEqual(expect.stringMatching(/^key=value/));
    });

    it('sessions', async () => {
      const first = await get('/v1/session');
      const cookie = /^[^;]+/.exec(first.headers.get('set-cookie') ?? '')?.[0] ?? '';
      expect([first.body, (await get('/v1/session', { cookie })).body]).toEqual([{ visits: 1 }, { visits: 2 }]);
    });

    it('compression of responses', async () => {
      const response = await app.inject({
        url: '/v1/compression',
        headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'gzip' },
      });
      expect(response.headers['content-encoding']).toBe('gzip');
      expect(response.headers.vary).toContain('accept-encoding');
      expect(JSON.parse(gunzipSync(response.rawPayload).toString())).toEqual({ text: 'a'.repeat(1_000) });
    });

    it('file upload', async () => {
      const form = new FormData();
      form.set('file', new Blob(['12345']), 'five.txt');
      expect((await call('POST', '/v1/files/upload', {}, form)).body).toEqual({ name: 'five.txt', bytes: 5 });
      expectError(await call('POST', '/v1/files/upload', { authorization: '' }, form), 'missing_api_key');
    });

    it("file upload by Nest's interceptor and pipes", async () => {
      const form = new FormData();
      form.set('name', 'Rex');
      form.set('file', new Blob(['12345']), 'five.txt');
      expect((await call('POST', '/v1/files/intercepted', {}, form)).body).toEqual({ size: 5, name: 'Rex' });
      form.set('file', new Blob(['1234567']), 'seven.txt');
      expectError(await call('POST', '/v1/files/intercepted', {}, form), 'bad_request');
      // Only this operation accepts a form.
      expectError(await call('POST', '/v1/pets', {}, form), 'unsupported_media_type');
    });

    it('the raw body', async () => {
      expect((await post('/v1/files/raw', { a: 1 })).body).toEqual({ raw: '{"a":1}' });
    });

    it('a content type parser of a module', async () => {
      expect((await call('POST', '/v1/files/csv', { 'content-type': 'text/csv' }, 'a,b')).body).toEqual(['a', 'b']);
    });

    it('streaming files', async () => {
      const streamed = await get('/v1/files/stream');
      expect([streamed.text, streamed.headers.get('content-type')]).toEqual(['part 1, part 2', 'text/plain']);
      expect(streamed.headers.get('content-disposition')).toBe('attachment; filename="parts.txt"');
      expect((await get('/v1/files/buffer')).headers.get('content-type')).toBe('image/png');
      expectError(await get('/v1/files/failing'), 'internal_error', INTERNAL_ERROR);
      expect((await get('/v1/files/lines')).text).toBe('{"line":1}\n{"line":2}\n');
    });

    it('server-sent events, with the headers of every response', async () => {
      const { text, headers } = await get('/v1/events/sse');
      expect(headers.get('content-type')).toBe('text/event-stream');
      expect(text).toContain(
        'event: counted\nid: 1\ndata: {"count":1}\n\nevent: counted\nid: 2\ndata: {"count":2}\n\n',
      );
      expect(COMMON_HEADERS.filter((name) => !headers.has(name))).toEqual([]);
    });

    it('server-sent events that end with an error', async () => {
      const { text } = await get('/v1/events/failing');
      expect(text).toContain('data: first');
    });

    it('events', async () => {
      expect((await get('/v1/emitted')).body).toEqual({ seen: ['created'] });
    });

    it('configuration, constraints and schemas of Fastify routes', async () => {
      expect((await get('/v1/fastify/config')).body).toEqual({ output: 'hello world' });
      const constrained = { url: '/v1/fastify/constraints', headers: { authorization: `Bearer ${key}` } };
      expect((await app.inject(constrained)).statusCode).toBe(404);
      const headers = { ...constrained.headers, host: 'shop.example.com' };
      expect((await app.inject({ ...constrained, headers })).json()).toEqual({ isConstrained: true });
      expect((await get('/v1/fastify/schema?size=3')).body).toEqual({ size: 3 });
      expectError(await get('/v1/fastify/schema?size=x'), 'bad_request');
    });

    it('a database with entities, relations, subscribers and transactions', async () => {
      expect((await post('/v1/users', {})).body).toEqual({
        user: { id: 1, firstName: 'Ada', isActive: true },
        inserted: ['Ada'],
      });
      const photos = [{ id: expect.stringMatching(/^[\da-f-]{36}$/) as string }];
      const stored = { id: 1, firstName: 'Ada', isActive: true, photoCount: 1, photos };
      expect((await get('/v1/users')).body).toEqual([stored]);
      expect((await post('/v1/users/canceled', {})).body).toEqual({ stored: 0 });
      expect((await call('DELETE', '/v1/users/1')).status).toBe(204);
      expect((await get('/v1/users')).body).toEqual([]);
    });

    it('a database that cannot store a value, such as one that no rule has checked', async () => {
      expectError(await call('DELETE', '/v1/users/3000000000'), 'bad_request');
      expectError(await get('/v1/users/named/Ada%00'), 'bad_request');
    });

    it('a database that is unavailable, unlike a file that is missing', async () => {
      const response = await get('/v1/users/locked');
      expectError(response, 'service_unavailable');
      expect(response.headers.get('retry-after')).toBe('1');
      expectError(await get('/v1/users/missing'), 'internal_error');
    });

    it('WebSocket gateways, which are closed without @Public()', async () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/closed`);
      await once(socket, 'open');
      socket.send(JSON.stringify({ event: 'events', data: 1 }));
      const [message] = (await once(socket, 'message')) as [Buffer];
      expect(JSON.parse(message.toString())).toMatchObject({ event: 'exception' });
      socket.close();
      await once(socket, 'close');
    });

    it('WebSocket gateways', async () => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/events`);
      await once(socket, 'open');
      socket.send(JSON.stringify({ event: 'events', data: 1 }));
      const [message] = (await once(socket, 'message')) as [Buffer];
      expect(JSON.parse(message.toString())).toEqual({ event: 'events', data: 2 });
      socket.close();
      await once(socket, 'close');
      expect((await get('/v1/gateway')).body).toEqual({ connections: 1, hasServer: true });
    });
  });

  describe('security', () => {
    it('an own authentication guard on a public controller', async () => {
      expectError(await get('/v1/profile'), 'unauthorized');
      expect((await get('/v1/profile', { authorization: 'Basic cmV4' })).body).toEqual({ name: 'rex' });
      expectError(await post('/v1/profile', {}, { authorization: 'none' }), 'unauthorized');
    });

    it("passport's guard on a public controller, with several strategies", async () => {
      const getAccount = async (token: string) => get('/v1/profile/account', { authorization: `Bearer ${token}` });
      expect((await getAccount(key)).body).toEqual({ id: Number(accountId) });
      expect((await getAccount('partner')).body).toEqual({ id: 8 });
      expectError(await getAccount('wrong'), 'unauthorized');
    });

    describe('@Throttle()', () => {
      const createKey = async (perMinute: number) => {
        const { id } = await app.get(AccountsService).create('Acme', 'enterprise', { perMinute, perDay: 1_000 });
        return { id, key: (await app.get(KeysService).create(id)).secret };
      };
      const getThrottled = (token: string) => get('/v1/throttled', { authorization: `Bearer ${token}` });
      const readRemaining = ({ headers }: Response) => Number(headers.get('x-ratelimit-remaining'));

      it('limits a handler for each account, with the headers of the closest limit', async () => {
        const [one, other] = [await createKey(100), await createKey(100)];
        const second = (await app.get(KeysService).create(one.id)).secret;
        for (const [index, token] of [one.key, second, one.key].entries()) {
          const admitted = await getThrottled(token);
          expect([admitted.status, readRemaining(admitted)]).toEqual([200, 2 - index]);
        }
        const rejected = await getThrottled(second);
        expectError(rejected, 'rate_limit_exceeded');
        const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'];
        const reset = clock.now() / 1_000 + 60;
        expect(names.map((name) => Number(rejected.headers.get(name)))).toEqual([3, 0, reset, 60]);
        expect(rejected.headers.get('ratelimit')).toBe('"operation";r=0;t=60');
        const admitted = await getThrottled(other.key);
        expect([admitted.status, admitted.headers.get('ratelimit-policy'), admitted.headers.get('ratelimit')]).toEqual([
          200,
          expect.stringMatching(/^"minute";q=100;w=60, .*"day";q=1000;w=86400, .*"operation";q=3;w=60$/),
          expect.stringMatching(/^"minute";r=99;t=60, .*"day";r=999;t=\d+, .*"operation";r=2;t=60$/),
        ]);
        // The rejected request costs nothing in the plan.
        expect(readRemaining(await get('/v1/cats/status', { authorization: `Bearer ${one.key}` }))).toBe(96);
        clock.advance(60_000);
        expect((await getThrottled(second)).status).toBe(200);
      });

      it('limits handlers of the same name in controllers of the same name separately, also in another version', async () => {
        const authorization = `Bearer ${(await createKey(100)).key}`;
        const left = [];
        for (const path of ['/v1/made-1', '/v1/made-1', '/v2/made-1', '/v1/made-2']) {
          left.push((await get(path, { authorization })).headers.get('x-ratelimit-remaining'));
        }
        expect(left).toEqual(['2', '1', '2', '2']);
      });

      it('with several limits, counts a request in all of them and in the plan, or in none', async () => {
        const { key: token } = await createKey(100);
        const getRemaining = async () => {
          const response = await get('/v1/throttled/several', { authorization: `Bearer ${token}` });
          const windows = response.headers.get('ratelimit')?.match(/"(minute|day|short|long)";r=\d+/g);
          return [response.status, windows?.join(', ')];
        };
        expect(await getRemaining()).toEqual([200, '"minute";r=99, "day";r=999, "short";r=1, "long";r=2']);
        expect(await getRemaining()).toEqual([200, '"minute";r=98, "day";r=998, "short";r=0, "long";r=1']);
        expect((await getRemaining())[0]).toBe(429);
        clock.advance(1_000);
        expect(await getRemaining()).toEqual([200, '"minute";r=97, "day";r=997, "short";r=1, "long";r=0']);
        for (let request = 0; request < 3; request++) {
          expect((await getRemaining())[0]).toBe(429);
        }
        clock.advance(59_000);
        expect(await getRemaining()).toEqual([200, '"minute";r=99, "day";r=996, "short";r=1, "long";r=2']);
      });

      it('does not count requests that the plan rejects', async () => {
        const { id, key: token } = await createKey(2);
        const responses = [];
        for (let request = 0; request < 4; request++) {
          responses.push(await getThrottled(token));
        }
        expect(responses.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
        expect(responses.at(-1)?.headers.get('ratelimit')).toMatch(/^"minute";r=0;.+"operation";r=1;/);
        await app.get(AccountsService).setPlan(id, 'business');
        clock.advance(1_000);
        expect([(await getThrottled(token)).status, (await getThrottled(token)).status]).toEqual([200, 429]);
      });
    });

    it('@SkipThrottle() does not count, and still needs a key', async () => {
      expect((await get('/v1/throttled/skipped', { authorization: '' })).status).toBe(401);
      const before = await get('/v1/throttled/skipped');
      expect((await get('/v1/throttled/skipped')).headers.get('x-ratelimit-remaining')).toBe(
        before.headers.get('x-ratelimit-remaining'),
      );
    });
  });

  describe('OpenAPI', () => {
    const readDocument = async () => dereference((await get('/openapi.json')).body as OpenAPIObject);

    it('documents every operation, also of @All(), with the errors of its guards', async () => {
      const { paths } = await readDocument();
      expect(Object.keys(paths['/cats/any'] ?? {})).toEqual(expect.arrayContaining(['get', 'post', 'patch']));
      expect(paths['/cats/any']?.get?.responses).toHaveProperty('401');
      expect(paths['/cats/any']?.options?.responses).toHaveProperty('401');
      expect(paths['/cats/any']).not.toHaveProperty('search');
      expect(paths['/toys']?.post).toMatchObject({ operationId: 'addToy', summary: 'Add a toy' });
      expect(paths['/toys']?.post?.responses).toHaveProperty('401');
    });

    it('declares the parameter of a wildcard', async () => {
      const [path = '', item] = Object.entries((await readDocument()).paths).find(([it]) => it.includes('wild')) ?? [];
      const [, name] = /^\/cats\/wild\/\{(\w+)\}$/.exec(path) ?? [];
      expect(item?.get?.parameters).toContainEqual(expect.objectContaining({ name, in: 'path', required: true }));
      expect((await get('/v1/cats/wild/any/path')).text).toBe('wild');
    });

    it('has operation IDs that occur once', async () => {
      const { paths } = await readDocument();
      const ids = Object.values(paths).flatMap((item) =>
        Object.values(item as Record<string, { operationId?: string }>).map(({ operationId }) => operationId),
      );
      expect(ids.filter((id, index) => id === undefined || ids.indexOf(id) !== index)).toEqual([]);
      expect(ids).toContain('listPets');
    });

    it('links a response to the operation that its field identifies', async () => {
      const { paths } = await readDocument();
      const { operationId } = paths['/toys/named/{name}']?.get ?? {};
      expect(paths['/toys']?.post?.responses['201']).toMatchObject({
        links: { ToysController_findNamed_from_name: { operationId, parameters: { name: '$response.body#/name' } } },
      });
      expect(operationId).toBe('findNamed');
    });

    it('documents mapped, nested and circular types', async () => {
      const { components } = (await get('/openapi.json')).body as OpenAPIObject;
      expect(components?.schemas).toMatchObject({
        UpdateToyDto: { properties: { name: { type: 'string' }, price: { type: 'number' } } },
        ColoredToyDto: { required: ['name', 'color'] },
        NodeDto: { properties: { children: { items: { $ref: '#/components/schemas/NodeDto' } } } },
      });
    });

    it('validates mapped types', async () => {
      expect((await post('/v1/toys/updated', { price: 1 })).body).toEqual({ price: 1 });
      expectError(await post('/v1/toys/colored', { name: 'Ball' }), 'invalid_body');
      expect((await post('/v1/toys/nameless', { name: 'Ball', price: 1 })).body).toEqual({ price: 1 });
    });

    it('keeps types whose names are the titles of other schemas', async () => {
      const { components, paths } = await readDocument();
      expect(components?.schemas?.ToyDto).toMatchObject({ type: 'object' });
      expect(paths['/toys/titled']?.get?.responses).toMatchObject({
        '200': { content: { 'application/json': { schema: { title: 'ToyDto', type: 'string' } } } },
      });
    });

    it('declares every security scheme that an operation has, also with @ApiBearerAuth()', async () => {
      const { components, paths } = await readDocument();
      const used = Object.values(paths).flatMap((item) =>
        Object.values(item as Record<string, OperationObject>).flatMap(({ security = [] }) =>
          security.flatMap(Object.keys),
        ),
      );
      expect(paths['/toys/titled']?.get).toMatchObject({ 'x-required-scope': 'read' });
      expect(paths['/toys/titled']?.get).not.toHaveProperty('security');
      expect(used.filter((name) => !(name in (components?.securitySchemes ?? {})))).toEqual([]);
    });

    it('serves the portal', async () => {
      expect((await get('/docs/reference')).status).toBe(200);
      expect((await get('/v1/balls/1')).body).toEqual({ path: 'balls', id: '1' });
    });
  });

  describe('recipes', () => {
    it('CQRS', async () => {
      expect((await post('/v1/recipes/feed', { name: 'Rex' })).body).toEqual({ fed: 'Rex' });
    });

    it('asynchronous local storage, own and of nestjs-cls, also with a body', async () => {
      expect((await post('/v1/recipes/storage', { a: 1 }, { 'x-tenant': 't' })).body).toEqual({
        cls: 't',
        own: 't',
        body: { a: 1 },
      });
    });
  });
});
