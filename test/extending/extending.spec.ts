import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import {
  type ArgumentsHost,
  Controller,
  type ExecutionContext,
  Get,
  HttpException,
  Injectable,
  Logger,
  type OnModuleInit,
  StreamableFile,
  type Type,
  VersioningType,
} from '@nestjs/common';
import { APP_GUARD, ApplicationConfig, HttpAdapterHost, Reflector } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OperationObject, type ResponseObject } from '@nestjs/swagger';
import { PassportStrategy } from '@nestjs/passport';
import Fastify, { type FastifyReply } from 'fastify';
import { DatabaseError } from 'pg';
import { Strategy as BearerStrategy } from 'passport-http-bearer';
import { Strategy } from 'passport-jwt';
import { Type as TransformTo } from 'class-transformer';
import { EMPTY, lastValueFrom } from 'rxjs';
import {
  DataSource,
  QueryFailedError,
  QueryRunnerProviderAlreadyReleasedError,
  TransactionNotStartedError,
} from 'typeorm';
import { AccountsService, AuthStrategies, KeysService } from '../../src/auth';
import { ApiKeyRepository } from '../../src/auth/domain/api-key.repository';
import { loadSettings, type Settings } from '../../src/config/settings';
import { createOpenApiDocument } from '../../src/documentation';
import { ERROR_CATALOG } from '../../src/error-catalog';
import type { IdempotencyRecords } from '../../src/idempotency/domain/idempotency-records';
import { IdempotencyPipe } from '../../src/idempotency/http/idempotency.pipe';
import { PetNotFoundError } from '../../src/pets';
import { RateLimiter } from '../../src/rate-limiting';
import { UnknownValueError } from '../../src/shared/domain/pet-store-error';
import { ErrorDto } from '../../src/shared/http/errors/error.dto';
import { ErrorHelp } from '../../src/shared/http/errors/error-help';
import { RequestValidationPipe } from '../../src/shared/http/validation/request-validation.pipe';
import { ErrorFilter, toErrorDto } from '../../src/shared/http/errors/error.filter';
import { RouteTable } from '../../src/shared/http/routing/route-table';
import { POOL_OPTIONS } from '../../src/shared/persistence/session';
import { createPool } from '../../src/shared/persistence/statements';
import { Drain } from '../../src/shared/http/server/drain';
import { dereference } from '../openapi/dereference.cjs';
import { type Call, getCode } from '../support/service';
import { UniformRateLimiter } from './uniform-rate-limiter';
import { MemoryApiKeyRepository } from './memory-api-key.repository';
import { NotesController } from './notes.controller';
import { ReadOnlyGuard } from './read-only.guard';
import { type Fork, startFork } from './start-fork';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

describe('A team that extends the service', () => {
  let app: NestFastifyApplication;
  let call: Fork['call'];

  beforeAll(async () => {
    ({ app, call } = await startFork(
      { DATABASE_URL: ADMIN_DATABASE_URL },
      {
        plan: 'free',
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

  const readOutcome = async (method: string, key?: string) => {
    const response = await call(method, '/v1/pets', { key });
    return [response.status, getCode(response)];
  };

  it('can replace the key store, the limiter and a guard', async () => {
    expect(await readOutcome('GET', 'wrong')).toEqual([401, 'invalid_api_key']);
    expect((await call('GET', '/v1/pets')).headers['x-ratelimit-limit']).toBe('3');
    expect(await readOutcome('POST')).toEqual([503, 'service_unavailable']);
    expect(
      await app.get(DataSource).query('SELECT 1 FROM api_keys WHERE account_id = (SELECT max(id) FROM accounts)'),
    ).toEqual([]);
    expect(await readOutcome('GET')).toEqual([200, undefined]);
    expect(await readOutcome('GET')).toEqual([200, undefined]);
    expect(await readOutcome('GET')).toEqual([429, 'daily_quota_exceeded']);
  });
});

describe('The start', () => {
  const prefix = (config: ApplicationConfig) => {
    config.setGlobalPrefix('api');
  };
  const versioning = (config: ApplicationConfig) => {
    config.enableVersioning({ type: VersioningType.HEADER, header: 'version' });
  };
  const parser = (_: ApplicationConfig, { httpAdapter }: HttpAdapterHost<FastifyAdapter>) => {
    httpAdapter.useBodyParser('application/json', false, { bodyLimit: 1_000_000 });
  };

  it.each([
    ['a global prefix', prefix, 'The paths of the API begin with /v1'],
    ['another kind of versioning', versioning, 'The paths of the API begin with /v1'],
    ['another JSON parser', parser, 'Another parser of application/json would run before the guards'],
  ])('fails with %s', async (_, change, message) => {
    @Injectable()
    class Change implements OnModuleInit {
      constructor(
        private readonly config: ApplicationConfig,
        private readonly host: HttpAdapterHost<FastifyAdapter>,
      ) {}

      onModuleInit(): void {
        change(this.config, this.host);
      }
    }
    const { app } = await startFork({ DATABASE_URL: ADMIN_DATABASE_URL }, { providers: [Change] });
    await expect(app.listen(0, '127.0.0.1')).rejects.toThrow(message);
    await app.close();
  });
});

/** Starts a fork with an operation that has these strategies. */
function startWithStrategies(strategy: Type, ...names: [string, ...string[]]): Promise<Fork> {
  @Controller({ path: 'guarded', version: '1' })
  @AuthStrategies(...names)
  class GuardedController {
    @Get()
    get(): object {
      return {};
    }
  }
  return startFork({ DATABASE_URL: ADMIN_DATABASE_URL }, { providers: [strategy], controllers: [GuardedController] });
}

describe('An error of the database', () => {
  const createQueryError = (code: string, values: unknown[]) =>
    new QueryFailedError('SELECT $1', values, Object.assign(new Error(), { code }));
  const createSystemError = (syscall: string) => Object.assign(new Error(), { code: 'EMFILE', syscall });
  const unavailable = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  it.each<[string, unknown, number]>([
    ['of a connection', unavailable, 503],
    ['of a connection for which there is no file descriptor', createSystemError('connect'), 503],
    ['of a file for which there is none', createSystemError('open'), 500],
    ['of all addresses of a host', new AggregateError([unavailable, unavailable]), 503],
    [
      'of one address, beside one that this host lacks',
      new AggregateError([Object.assign(new Error(), { code: 'EADDRNOTAVAIL' }), unavailable]),
      503,
    ],
    ['beside another', new AggregateError([unavailable, new TypeError()]), 500],
    ['of no connection', new AggregateError([]), 500],
    [
      'with the status of a client error',
      Object.assign(new Error('aborted'), { ...unavailable, statusCode: 400 }),
      400,
    ],
    ['in an HTTP exception', Object.assign(new HttpException('Pay first', 402), { code: 'ECONNREFUSED' }), 402],
    ['with which a pooler ends a session', Object.assign(new Error(), { code: 'XX000', severity: 'FATAL' }), 503],
    ['of a disk of the server', createQueryError('58030', ['1']), 503],
    ['of a statement with too few parameters', Object.assign(new Error('bind message'), { code: '08P01' }), 500],
    ['of a transaction that has not started', new TransactionNotStartedError(), 500],
    ['of a value that is out of range', createQueryError('22003', ['3000000000']), 400],
    ['of a value in a statement of a Table', Object.assign(new DatabaseError('', 0, 'error'), { code: '22P05' }), 400],
    ['of a statement without values', createQueryError('22003', []), 500],
    ['of a division by zero', createQueryError('22012', ['0']), 500],
    ['of a transaction that has ended', new QueryRunnerProviderAlreadyReleasedError(), 500],
  ])('%s gets the status of its cause', (_, error, status) => {
    expect(toErrorDto(error, '', ERROR_CATALOG).status).toBe(status);
  });

  it('of a new connection gets 503, whatever a pooler calls it', async () => {
    const fields = 'SFATAL\0CXX000\0MTenant or user not found\0\0';
    const length = Buffer.alloc(4);
    length.writeInt32BE(length.length + fields.length);
    const pooler = createServer((socket) => {
      socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)])));
    }).listen(0, '127.0.0.1');
    await once(pooler, 'listening');
    const { port } = pooler.address() as AddressInfo;
    const pool = createPool({ ...POOL_OPTIONS, host: '127.0.0.1', port, user: 'unknown' });
    const error: unknown = await pool.connect().catch((reason: unknown) => reason);
    pooler.close();
    expect(error).toMatchObject({ code: 'XX000' });
    expect(toErrorDto(error, '', ERROR_CATALOG).status).toBe(503);
  });

  it('for which another version has to respond is logged as any 503', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    toErrorDto(new UnknownValueError(), 'r-1', ERROR_CATALOG);
    const reason = 'This version does not know a stored value';
    expect(warn.mock.calls).toMatchObject([[{ event: 'service_unavailable', id: 'r-1', reason }, expect.any(String)]]);
    warn.mockRestore();
  });

  it('about a value is logged without the value', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    toErrorDto(createQueryError('22003', ['3000000000']), 'r-1', ERROR_CATALOG);
    expect(warn.mock.calls).toEqual([[{ event: 'value_rejected', id: 'r-1', code: '22003' }, expect.any(String)]]);
    warn.mockRestore();
  });

  it('is no failure of a credential', async () => {
    @Injectable()
    class FailingStrategy extends PassportStrategy(Strategy, 'failing') {
      constructor() {
        super({
          jwtFromRequest: () => 'token',
          secretOrKeyProvider: (_request: unknown, _token: unknown, done: (error: unknown) => void) => {
            done(unavailable);
          },
        });
      }

      validate(): false {
        return false;
      }
    }
    const fork = await startWithStrategies(FailingStrategy, 'failing');
    expect(getCode(await fork.call('GET', '/v1/guarded'))).toBe('service_unavailable');
    await fork.app.close();
  });
});

describe('Authentication', () => {
  it('tries the strategies of an operation in their order, whether or not an API key is cached', async () => {
    const strategies: string[] = [];
    @Injectable()
    class PartnerStrategy extends PassportStrategy(BearerStrategy, 'partner') {
      validate(): false {
        strategies.push('partner');
        return false;
      }
    }
    const fork = await startWithStrategies(PartnerStrategy, 'partner', 'bearer');
    for (const path of ['/v1/guarded', '/v1/pets', '/v1/guarded']) {
      expect((await fork.call('GET', path)).status).toBe(200);
    }
    expect(strategies).toEqual(['partner', 'partner']);
    await fork.app.close();
  });
});

it('A path is known by its own characters, also if they mean something in a pattern', () => {
  const routes = new RouteTable();
  const fastify = Fastify();
  routes.registerHooks(fastify);
  for (const url of ['/v1/plus+one', '/v1/pets::search', '/v1/pets/:petId']) {
    fastify.put(url, () => undefined);
  }
  const findMethods = (url: string) => {
    const reply = { request: { url, method: 'GET' }, header: () => undefined } as unknown as FastifyReply;
    return routes.rejectMethod(reply)?.message;
  };
  const message = 'GET is not allowed here. Use PUT.';
  expect(['/v1/plus+one', '/v1/pets:search', '/v1/pets/1'].map(findMethods)).toEqual([message, message, message]);
  expect(['/v1/plusone', '/v1/petsOTHER', '/v1/pets/1/2'].map(findMethods)).toEqual([undefined, undefined, undefined]);
});

describe('An Error body', () => {
  it('has a message of at most 2,048 characters', () => {
    expect(new ErrorDto('bad_request', 'x'.repeat(2_049), 400).message).toBe(`${'x'.repeat(2_047)}…`);
    expect(new ErrorDto('bad_request', 'x'.repeat(2_048), 400).message).toHaveLength(2_048);
  });

  it('names an integer that a transformer of a field cannot take', async () => {
    class AgeDto {
      @TransformTo(() => Date)
      readonly since?: Date;
    }
    const pipe = new RequestValidationPipe();
    await expect(pipe.transform({ since: 2n ** 53n + 1n }, { type: 'body', metatype: AgeDto })).rejects.toMatchObject({
      code: 'invalid_body',
      message: 'A number is too large.',
    });
  });

  it('of a module has a Retry-After with 429, unless it has its own', () => {
    const help = new ErrorHelp(loadSettings({ DOCS_ENABLED: 'false' }));
    expect(help.createHeaders('too_many_requests')).toEqual({ 'retry-after': '1' });
    expect(help.createHeaders('too_many_requests', { 'retry-after': '60' })).toEqual({});
  });

  it('with a 5xx of a module hides its reason, which the log has', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const error = new HttpException('hidden', 502, { cause: new Error('upstream said no') });
    expect(toErrorDto(error, 'r-1', ERROR_CATALOG).message).not.toContain('hidden');
    const fields = { id: 'r-1', reason: 'upstream said no' };
    expect(warn.mock.calls).toMatchObject([[fields, expect.stringMatching(/^Returned 502/) as string]]);
    warn.mockRestore();
  });
});

describe('Without HTTP', () => {
  it('an error of a microservice is an Error body', async () => {
    const filter = new ErrorFilter(ERROR_CATALOG, {} as ErrorHelp, {} as RouteTable);
    const host = { getType: () => 'rpc' } as unknown as ArgumentsHost;
    await expect(lastValueFrom(filter.catch(new PetNotFoundError(), host) ?? EMPTY)).rejects.toEqual({
      code: 'pet_not_found',
      message: expect.any(String) as string,
      status: 404,
    });
  });

  it('an application context closes', async () => {
    const drain = new Drain(loadSettings({}), { httpAdapter: null } as unknown as HttpAdapterHost);
    await expect(drain.beforeApplicationShutdown()).resolves.toBeUndefined();
  });
});

describe('A controller of a team', () => {
  let app: NestFastifyApplication;
  let settings: Settings;
  let call: Fork['call'];

  beforeAll(async () => {
    ({ app, settings, call } = await startFork(
      { DATABASE_URL: ADMIN_DATABASE_URL },
      { controllers: [NotesController] },
    ));
  });
  afterAll(() => app.close());

  it('gets a body as its own DTO, with defaults and without unknown fields, from @Body() alone', async () => {
    const body = '{"title":"Feed Rex","lines":[{"text":"twice","more":1}],"more":[{"constructor":1}]}';
    expect(await call('POST', '/v1/notes', { body })).toMatchObject({
      status: 200,
      body: { isDto: true, note: { title: 'Feed Rex', isPinned: false, lines: [{ text: 'twice' }] } },
    });
  });

  it('gets bodies only after the key, the media type, the syntax and the rules of class-validator were checked', async () => {
    const post = (body: string, more: Omit<Call, 'body'> = {}) => call('POST', '/v1/notes', { body, ...more });
    expect(await post('{', { key: 'wrong' })).toMatchObject({ status: 401 });
    expect(await post('{', { headers: { 'content-type': 'text/plain' } })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    });
    expect(await post('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect((await post('{"title":"Feed Rex today","lines":[{"text":1}]}')).body).toEqual({
      code: 'invalid_body',
      message: 'title must be shorter than or equal to 10 characters; lines.0.text must be a string.',
      status: 400,
    });
  });

  it('can use PUT, PATCH and DELETE; retries with an Idempotency-Key return the first response', async () => {
    const send = (method: string, idempotencyKey: string) =>
      call(method, '/v1/notes/7', {
        headers: { 'idempotency-key': idempotencyKey },
        ...(method !== 'DELETE' && { body: { title: 'Feed Rex' } }),
      });
    expect(await send('PUT', 'none')).toMatchObject({ status: 200, text: '{"isPinned":false,"title":"Feed Rex"}' });
    const [changed, again] = [await send('PATCH', 'change'), await send('PATCH', 'change')];
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([200, changed.text, 'true']);
    for (const isReplayed of [undefined, 'true']) {
      const { status, text, headers } = await send('DELETE', 'remove');
      expect([status, text, headers['idempotent-replayed']]).toEqual([204, '', isReplayed]);
      expect(headers['content-type']).toBeUndefined();
    }
    expect(app.get(NotesController).removed).toEqual(['7']);
    expect((await call('POST', '/v1/notes/7')).headers.allow).toBe('DELETE, PATCH, PUT');
  });

  it('can set headers; an error has none that cannot be sent, and is not stored by shared caches', async () => {
    const read = async (label: string) => {
      const { status, headers, body } = await call('GET', `/v1/notes/labels/${encodeURIComponent(label)}`);
      expect(headers['x-ratelimit-limit']).toBe('1000');
      return [status, headers['x-label'], headers['cache-control'], body];
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
      call('POST', '/v1/notes/queued', {
        headers: { 'idempotency-key': idempotencyKey, 'x-request-id': randomUUID() },
        body: { title: 'Feed Rex', isPinned },
      });
    const removeOwn = ({ headers }: { headers: object }, ...names: string[]) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
    const volatile = ['x-request-id', 'x-ratelimit-remaining', 'ratelimit', 'date', 'idempotent-replayed'];
    const [first, again] = [await queue('queue', false), await queue('queue', false)];
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([202, first.text, 'true']);
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
    expect([(await queue('more', true)).status, (await queue('more', true)).status]).toEqual([500, 500]);
  });

  it('accepts the JSON media types that an operation declares, and no others', async () => {
    const send = (method: string, mediaType: string) =>
      call(method, '/v1/notes/7', { headers: { 'content-type': mediaType }, body: '{"title":"Rex"}' });
    const reject = (types: string) => ({ status: 415, body: { message: `The body must be ${types} in UTF-8.` } });
    expect(await send('PATCH', 'application/merge-patch+json')).toMatchObject({ status: 200 });
    expect(await send('PATCH', 'text/plain')).toMatchObject(reject('application/json or application/merge-patch+json'));
    expect(await send('PUT', 'application/merge-patch+json')).toMatchObject(reject('application/json'));
  });

  it('rejects read-only keys, whether or not it declares the scope it needs', async () => {
    const account = await app.get(AccountsService).create('Acme', 'business');
    const { secret: key } = await app.get(KeysService).create(account.id, null, 'read');
    const readOutcome = async (method: string, url: string) => {
      const response = await call(method, url, { key });
      return [response.status, getCode(response)];
    };
    expect(await readOutcome('DELETE', '/v1/notes/7')).toEqual([403, 'insufficient_scope']);
    expect(await readOutcome('DELETE', '/v1/none')).toEqual([404, 'route_not_found']);
    expect(await readOutcome('GET', '/v1/notes/closed')).toEqual([403, 'forbidden']);
  });

  it('is documented with the errors of its guards', () => {
    const { paths } = dereference(createOpenApiDocument(app, settings));
    const { responses } = paths['/notes/closed']?.get ?? {};
    expect(responses?.['403']).toMatchObject({
      content: { 'application/json': { examples: { forbidden: { value: { code: 'forbidden', status: 403 } } } } },
    });
  });

  it('is documented beside the tags that a team adds to the builder of the document', () => {
    const builder = jest.spyOn(DocumentBuilder.prototype, 'addSecurityRequirements');
    builder.mockImplementationOnce(function (this: DocumentBuilder) {
      return this.addTag('cats');
    });
    const names = createOpenApiDocument(app, settings).tags?.map(({ name }) => name);
    builder.mockRestore();
    expect(names).toEqual(expect.arrayContaining(['pets', 'cats']));
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

  it('cannot store two results for an idempotency key, and fails also without one', async () => {
    const context = { switchToHttp: () => ({ getRequest: () => ({ headers: {} }) }) } as ExecutionContext;
    const once = new IdempotencyPipe({} as IdempotencyRecords, new ApplicationConfig(), new Reflector()).transform(
      context,
    );
    expect(await once(() => 1)).toBe(1);
    await expect(once(() => 2)).rejects.toThrow('can be called only once');
  });

  it.each([new StreamableFile(Buffer.of(1)), Buffer.of(1), EMPTY])(
    'cannot store a result for an idempotency key that is no JSON (%#)',
    async (result) => {
      const records = { executeOnce: (_request: unknown, execute: () => unknown) => execute() };
      const request = { headers: { 'idempotency-key': 'a' }, method: 'POST', url: '/v1/notes', principal: {} };
      const reply = { getHeaders: () => ({}), sent: false };
      const context = { switchToHttp: () => ({ getRequest: () => request, getResponse: () => reply }) };
      const pipe = new IdempotencyPipe(
        records as unknown as IdempotencyRecords,
        new ApplicationConfig(),
        new Reflector(),
      );
      const once = pipe.transform(context as unknown as ExecutionContext);
      await expect(once(() => result)).rejects.toThrow('must be JSON');
    },
  );

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
