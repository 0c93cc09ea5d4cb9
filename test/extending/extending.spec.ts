import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, HttpException, Param } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OperationObject, ResponseObject } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { DataSource } from 'typeorm';
import { AccountsService, KeysService } from '../../src/auth';
import { ApiKeyRepository } from '../../src/auth/domain/api-key.repository';
import type { Settings } from '../../src/config/settings';
import { createOpenApiDocument } from '../../src/documentation';
import { RateLimiter } from '../../src/rate-limiting';
import { dereference } from '../openapi/dereference.cjs';
import { UniformRateLimiter } from './uniform-rate-limiter';
import { MemoryApiKeyRepository } from './memory-api-key.repository';
import { NotesController } from './notes.controller';
import { ReadOnlyGuard } from './read-only.guard';
import { startFork } from './start-fork';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const MISTAKES: Readonly<Record<string, HttpException>> = {
  conflict: new HttpException('', 409),
  internal_error: new HttpException('This is no error.', 200),
};

@Controller({ path: 'mistakes', version: '1' })
class MistakesController {
  @Get(':code')
  @SkipThrottle()
  get(@Param('code') code: string): never {
    throw MISTAKES[code] ?? new Error('unknown');
  }
}

describe('A team that extends the service', () => {
  let app: NestFastifyApplication;
  let key: string;

  beforeAll(async () => {
    ({ app, key } = await startFork(
      { DATABASE_URL: ADMIN_DATABASE_URL },
      {
        plan: 'free',
        controllers: [MistakesController],
        providers: [{ provide: APP_GUARD, useClass: ReadOnlyGuard }],
        override: (builder) =>
          builder
            .overrideProvider(RateLimiter)
            .useClass(UniformRateLimiter)
            .overrideProvider(ApiKeyRepository)
            .useClass(MemoryApiKeyRepository),
      },
    ));
  });
  afterAll(() => app.close());

  const call = async (method: 'GET' | 'POST', authorization = `Bearer ${key}`) => {
    const { statusCode, headers, body } = await app.inject({ method, url: '/v1/pets', headers: { authorization } });
    return {
      status: statusCode,
      limit: headers['x-ratelimit-limit'],
      code: (JSON.parse(body) as { code?: string }).code,
    };
  };

  it('can replace the key store, the limiter and a guard', async () => {
    expect(await call('GET', 'Bearer wrong')).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(await call('GET')).toEqual({ status: 200, limit: '3', code: undefined });
    expect(await call('POST')).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(
      await app.get(DataSource).query('SELECT 1 FROM api_keys WHERE account_id = (SELECT max(id) FROM accounts)'),
    ).toEqual([]);
    expect(await call('GET')).toMatchObject({ status: 200 });
    expect(await call('GET')).toMatchObject({ status: 200 });
    expect(await call('GET')).toMatchObject({ status: 429, code: 'daily_quota_exceeded' });
  });

  it.each([
    ['conflict', 409],
    ['internal_error', 500],
  ])(
    'gets a whole error for an exception without a message or with the status of a success: %s',
    async (code, status) => {
      const url = `/v1/mistakes/${code}`;
      const { statusCode, body } = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
      expect(statusCode).toBe(status);
      expect(JSON.parse(body)).toEqual({ code, message: expect.stringMatching(/^[A-Z].+\.$/) as string, status });
    },
  );
});

describe('A controller of a team', () => {
  let app: NestFastifyApplication;
  let settings: Settings;
  let key: string;

  beforeAll(async () => {
    ({ app, settings, key } = await startFork(
      { DATABASE_URL: ADMIN_DATABASE_URL },
      { controllers: [NotesController] },
    ));
  });
  afterAll(() => app.close());

  const post = async (payload: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) => {
    const response = await app.inject({
      method: 'POST',
      url: '/v1/notes',
      headers: { 'content-type': 'application/json', ...headers },
      payload,
    });
    return { status: response.statusCode, body: JSON.parse(response.body) as { code?: string; message?: string } };
  };

  it('gets a body as its own DTO, with defaults and without unknown fields, from @Body() alone', async () => {
    expect(await post('{"title":"Feed Rex","lines":[{"text":"twice","more":1}],"more":[{"constructor":1}]}')).toEqual({
      status: 200,
      body: { isDto: true, note: { title: 'Feed Rex', isPinned: false, lines: [{ text: 'twice' }] } },
    });
  });

  it('gets bodies only after the key, the media type, the syntax and the rules of class-validator were checked', async () => {
    expect(await post('{', { authorization: 'Bearer wrong' })).toMatchObject({ status: 401 });
    expect(await post('{', { authorization: `Bearer ${key}`, 'content-type': 'text/plain' })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    });
    expect(await post('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect(await post('{"title":"Feed Rex today","lines":[{"text":1}]}')).toEqual({
      status: 400,
      body: {
        code: 'invalid_body',
        message: 'title must be shorter than or equal to 10 characters; lines.0.text must be a string.',
        status: 400,
      },
    });
  });

  it('can use PUT, PATCH and DELETE; retries with an Idempotency-Key return the first response', async () => {
    const call = (method: 'PUT' | 'PATCH' | 'DELETE', idempotencyKey: string) =>
      app.inject({
        method,
        url: '/v1/notes/7',
        headers: { authorization: `Bearer ${key}`, 'idempotency-key': idempotencyKey },
        ...(method !== 'DELETE' && { payload: { title: 'Feed Rex' } }),
      });
    expect(await call('PUT', 'none')).toMatchObject({ statusCode: 200, body: '{"isPinned":false,"title":"Feed Rex"}' });
    const [changed, again] = [await call('PATCH', 'change'), await call('PATCH', 'change')];
    expect([again.statusCode, again.body, again.headers['idempotent-replayed']]).toEqual([200, changed.body, 'true']);
    for (const isReplayed of [undefined, 'true']) {
      const { statusCode, body, headers } = await call('DELETE', 'remove');
      expect([statusCode, body, headers['idempotent-replayed']]).toEqual([204, '', isReplayed]);
      expect(headers['content-type']).toBeUndefined();
    }
    expect(app.get(NotesController).removed).toEqual(['7']);
    expect(
      (await app.inject({ method: 'POST', url: '/v1/notes/7', headers: { authorization: `Bearer ${key}` } })).headers
        .allow,
    ).toBe('DELETE, PATCH, PUT');
  });

  it('can set headers; an error has none that cannot be sent, and is not stored by shared caches', async () => {
    const read = async (label: string) => {
      const url = `/v1/notes/labels/${encodeURIComponent(label)}`;
      const { statusCode, headers, body } = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
      expect(headers['x-ratelimit-limit']).toBe('1000');
      return [statusCode, headers['x-label'], headers['cache-control'], JSON.parse(body) as unknown];
    };
    const internal = { code: 'internal_error', message: expect.any(String) as string, status: 500 };
    const missing = { code: 'not_found', message: 'No such label.', status: 404 };
    expect(await read('new')).toEqual([200, 'new', 'public, max-age=600', ['new']]);
    expect(await read('日本')).toEqual([500, undefined, 'private, no-cache', internal]);
    expect(await read('no 日本')).toEqual([404, undefined, 'private, no-cache', missing]);
    expect(await read('no new')).toEqual([404, 'no new', 'private, no-cache', missing]);
  });

  it('can set a status and headers, which a retry with the Idempotency-Key returns again', async () => {
    const queue = (idempotencyKey: string, isPinned: boolean) =>
      app.inject({
        method: 'POST',
        url: '/v1/notes/queued',
        headers: { authorization: `Bearer ${key}`, 'idempotency-key': idempotencyKey, 'x-request-id': randomUUID() },
        payload: { title: 'Feed Rex', isPinned },
      });
    const removeOwn = ({ headers }: { headers: object }, ...names: string[]) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
    const volatile = ['x-request-id', 'x-ratelimit-remaining', 'ratelimit', 'date', 'idempotent-replayed'];
    const [first, again] = [await queue('queue', false), await queue('queue', false)];
    expect([again.statusCode, again.body, again.headers['idempotent-replayed']]).toEqual([202, first.body, 'true']);
    expect(again.headers).toMatchObject({ etag: first.headers.etag, 'set-cookie': ['a=1', 'b=2'], 'x-more': 'a' });
    expect(removeOwn(again, ...volatile)).toEqual(removeOwn(first, ...volatile));
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(again.headers['x-ratelimit-remaining']).toBe(`${Number(first.headers['x-ratelimit-remaining']) - 1}`);
    const stored: unknown = await app
      .get(DataSource)
      .query(`SELECT status, headers FROM idempotency_records WHERE key = 'queue'`);
    const own = { etag: first.headers.etag, 'set-cookie': ['a=1', 'b=2'], 'x-more': 'a' };
    expect(stored).toEqual([{ status: 202, headers: own }]);
    // Headers that no client would accept are not stored.
    expect([(await queue('more', true)).statusCode, (await queue('more', true)).statusCode]).toEqual([500, 500]);
  });

  it('accepts the JSON media types that an operation declares, and no others', async () => {
    const call = async (method: 'PUT' | 'PATCH', mediaType: string) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': mediaType };
      const { statusCode, body } = await app.inject({
        method,
        url: '/v1/notes/7',
        headers,
        payload: '{"title":"Rex"}',
      });
      return [statusCode, (JSON.parse(body) as { message?: string }).message];
    };
    const types = 'application/json or application/merge-patch+json';
    expect(await call('PATCH', 'application/merge-patch+json')).toEqual([200, undefined]);
    expect(await call('PATCH', 'text/plain')).toEqual([415, `The body must be ${types} in UTF-8.`]);
    expect(await call('PUT', 'application/merge-patch+json')).toEqual([
      415,
      'The body must be application/json in UTF-8.',
    ]);
  });

  it('rejects read-only keys, whether or not it declares the scope it needs', async () => {
    const account = await app.get(AccountsService).create('Acme', 'business');
    const { secret } = await app.get(KeysService).create(account.id, null, 'read');
    const call = async (method: 'GET' | 'DELETE', url: string) => {
      const { statusCode, body } = await app.inject({ method, url, headers: { authorization: `Bearer ${secret}` } });
      return [statusCode, (JSON.parse(body) as { code?: string }).code];
    };
    expect(await call('DELETE', '/v1/notes/7')).toEqual([403, 'insufficient_scope']);
    expect(await call('DELETE', '/v1/none')).toEqual([404, 'route_not_found']);
    expect(await call('GET', '/v1/notes/closed')).toEqual([403, 'forbidden']);
  });

  it('is documented with the errors of its guards', () => {
    const { paths } = dereference(createOpenApiDocument(app, settings));
    const { responses } = paths['/notes/closed']?.get ?? {};
    expect(responses?.['403']).toMatchObject({
      content: { 'application/json': { examples: { forbidden: { value: { code: 'forbidden', status: 403 } } } } },
    });
  });

  it('is documented without a key and its errors if it is public', () => {
    const { paths } = dereference(createOpenApiDocument(app, settings));
    const { security, responses = {} } = paths['/notes']?.get ?? {};
    expect(security).toEqual([]);
    expect(['401', '403', '429'].filter((status) => status in responses)).toEqual([]);
  });

  it('is documented with the errors that it describes itself, beside those of the service', () => {
    const { paths } = createOpenApiDocument(app, settings);
    expect(paths['/notes']?.get?.responses['400']).toMatchObject({
      description: 'The year is none.',
      content: {
        'application/json': {
          schema: { oneOf: [{ $ref: '#/components/schemas/CreateNoteDto' }, { $ref: '#/components/schemas/Error' }] },
        },
      },
    });
  });

  it('gets validated queries too', async () => {
    const list = async (url: string) => JSON.parse((await app.inject({ method: 'GET', url })).body) as unknown;
    expect(await list('/v1/notes?more=1')).toEqual({ year: '2026' });
    expect(await list('/v1/notes?year=x')).toMatchObject({ code: 'invalid_parameter' });
  });

  it('is documented as deprecated and idempotent by those decorators, not by header names', () => {
    const { paths } = dereference(createOpenApiDocument(app, settings));
    const once = paths['/notes/once']?.post;
    const tagged = paths['/notes/tagged']?.post;
    const getHeaders = (operation: OperationObject | undefined, status: string) =>
      Object.keys((operation?.responses[status] as ResponseObject).headers ?? {});
    expect(getHeaders(once, '201')).toContain('Idempotent-Replayed');
    expect(getHeaders(tagged, '201')).not.toContain('Idempotent-Replayed');
    const old = paths['/notes/old']?.get;
    expect(old).toMatchObject({ operationId: 'listOldNotes', deprecated: true, 'x-deprecated-sunset': '2031-01-01' });
    expect(getHeaders(old, '200')).toEqual(expect.arrayContaining(['Deprecation', 'Sunset', 'Link']));
  });
});

describe('docs/extending.md', () => {
  const read = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8');
  const guide = read('docs/extending.md');
  const shown = [...guide.matchAll(/^<!-- (\S+) -->\n\n```\w+\n([^]*?)^```$/gm)].map(
    ([, path = '', code = '']) => [path, code] as const,
  );

  it.each(shown)('shows the code in %s', (path, code) => {
    const getLines = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => line.trim());
    const lines = getLines(read(path));
    const parts = code.split(/^\s*\/\/ …\n/m);
    // Each part must occur unchanged after the previous one.
    let from = 0;
    for (const part of parts.map(getLines)) {
      const at = lines.findIndex((_, index) => index >= from && part.every((line, n) => lines[index + n] === line));
      expect([part.join('\n'), at]).not.toEqual([part.join('\n'), -1]);
      from = at + part.length;
    }
  });

  it('shows only code that is in a file', () => {
    expect([...guide.matchAll(/^```(ts|js)\n/gm)]).toHaveLength(shown.length);
    expect(shown.length).toBeGreaterThan(10);
  });
});
