import { Controller, Get, Headers, Logger, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiOkResponse, type OpenAPIObject, ApiQuery, ApiResponse, type SchemaObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AccountsService, KeysService } from '../../src/auth';
import { stringifyJson } from '../../src/shared/json/json';
import { sendRaw } from '../support/raw';
import { getCode } from '../support/service';
import { DATABASE_URL } from '../support/worker-database';
import { PetsV2Module } from './pets-v2.module';
import { type Fork, startFork } from './start-fork';

@Controller({ path: 'exports', version: '2' })
class ExportsController {
  @Get()
  @ApiQuery({ name: 'status', required: false, enum: ['available', 'sold'], isArray: true })
  @ApiOkResponse({ description: 'The animals.', content: { 'text/csv': { schema: { type: 'string' } } } })
  @ApiResponse({ status: 304, description: 'The animals have not changed.' })
  export(@Headers('if-none-match') etag: string | undefined, @Res({ passthrough: true }) reply: FastifyReply) {
    reply.status(etag === undefined ? 200 : 304).type('text/csv');
    return etag === undefined ? 'id,name' : '';
  }
}

const OLD_DOCS = 'https://api.example.com/docs';

describe('Version 2, which a handler of a team opens', () => {
  let app: NestFastifyApplication;
  let call: Fork['call'];
  let port: number;
  const logged: string[] = [];

  beforeAll(async () => {
    ({ app, call } = await startFork(
      {
        DATABASE_URL,
        LOG_LEVEL: 'info',
        PUBLIC_BASE_URL: 'https://api.example.com/v1',
        STAGING_BASE_URL: 'https://staging.example.com/v1',
        AUTH_FAILURES_PER_MINUTE: '1000000',
      },
      {
        imports: [PetsV2Module],
        controllers: [ExportsController],
        logTo: { write: (line) => logged.push(line) },
        conformTo: '2',
      },
    ));
    await app.listen(0, '127.0.0.1');
    port = Number(new URL(await app.getUrl()).port);
  });
  afterAll(() => app.close());

  const readDocument = async (path: string) => (await call('GET', path)).body as OpenAPIObject;

  it.each(['/v2', '/v2/', '/v2/pets', '/v2/pets/1', '/v2/pets/', '/v2/none', '/v2/%ff', '/v2/shelves/new'])(
    'requires a key for %s, whether or not it is an operation',
    async (path) => {
      const response = await call('GET', path, { headers: { authorization: 'Basic eDp5' } });
      expect([response.status, getCode(response)]).toEqual([401, 'missing_api_key']);
      expect(response.headers).toMatchObject({
        'x-ratelimit-limit': '1000000',
        'www-authenticate': 'Bearer realm="petstore"',
      });
    },
  );

  it.each([
    ['GET', '/v2', 404, 'route_not_found'],
    ['GET', '/v2/none', 404, 'route_not_found'],
    ['GET', '/v2/pets/', 404, 'route_not_found'],
    ['GET', '/v2//pets', 404, 'route_not_found'],
    ['GET', '/v2/store/orders', 404, 'route_not_found'],
    ['GET', '/v2/pets/0', 404, 'not_found'],
    ['GET', '/v2/pets/999999', 404, 'pet_not_found'],
    ['PUT', '/v2/pets', 405, 'method_not_allowed'],
    ['GET', '/v2/%ff', 400, 'malformed_url'],
    ['GET', '/v2/pets?limit=0', 400, 'invalid_parameter'],
  ] as const)('returns for %s %s the error %d %s, and counts the request', async (method, path, status, code) => {
    const before = await call('GET', '/v1/pets');
    const response = await call(method, path);
    expect([response.status, getCode(response)]).toEqual([status, code]);
    expect(Number(response.headers['x-ratelimit-remaining'])).toBe(Number(before.headers['x-ratelimit-remaining']) - 1);
    expect(response.headers).toMatchObject({
      vary: 'Authorization',
      'cache-control': 'private, no-cache',
      link: `<${OLD_DOCS}/errors#${code}>; rel="help"; type="text/html"`,
    });
    expect(response.headers.allow).toBe(status === 405 ? 'GET, HEAD, POST' : undefined);
  });

  it('shares the limits of the plan with version 1, and returns 429 past them', async () => {
    const { id } = await app.get(AccountsService).create('Acme', 'free');
    const { secret: key } = await app.get(KeysService).create(id);
    for (let request = 0; request < 30; request++) {
      expect((await call('GET', '/v1/pets', { key })).status).toBe(200);
      expect((await call('GET', '/v2/none', { key })).status).toBe(404);
    }
    const rejected = await call('GET', '/v2/none', { key });
    expect([getCode(rejected), rejected.headers['x-ratelimit-remaining']]).toEqual(['rate_limit_exceeded', '0']);
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('has the rate limit headers on responses to CORS preflights and to input that is not HTTP', async () => {
    const { status, headers } = await call('OPTIONS', '/v2/none', {
      headers: { origin: 'https://shop.example.com', 'access-control-request-method': 'GET' },
    });
    expect([status, headers['x-ratelimit-limit']]).toEqual([204, '1000000']);
    expect(await sendRaw(port, 'GET /v2/none HTTP/1.1\r\nHost\r\n\r\n')).toContain('x-ratelimit-limit: 1000000\r\n');
    expect(await sendRaw(port, 'GET /v3/none HTTP/1.1\r\nHost\r\n\r\n')).not.toContain('x-ratelimit-limit');
  });

  it.each([
    ['invalid_json', 400, 'application/json', '{'],
    ['invalid_body', 400, 'application/json', '{"title":1,"categoryId":3}'],
    ['unsupported_media_type', 415, 'text/plain', '{}'],
    ['body_too_large', 413, 'application/json', `{"title":"${'x'.repeat(70_000)}"}`],
  ])('checks bodies as version 1 does: %s', async (code, status, type, body) => {
    const response = await call('POST', '/v2/pets', { body, headers: { 'content-type': type } });
    expect([response.status, getCode(response)]).toEqual([status, code]);
  });

  it('links to itself in Location and in the link to the next page', async () => {
    const body = { title: 'Rex', categoryId: 3 };
    const created = await call('POST', '/v2/pets', { body });
    await call('POST', '/v2/pets', { body });
    const { id } = created.body as { id: number };
    expect(created.headers.location).toBe(`https://api.example.com/v2/pets/${id}`);
    const { headers } = await call('GET', '/v2/pets?limit=1');
    expect(headers.link).toMatch(/^<https:\/\/api\.example\.com\/v2\/pets\?limit=1&cursor=[^>]+>; rel="next"$/);
    expect((await call('GET', '/v1/pets?limit=1')).headers.link).toContain('<https://api.example.com/v1/pets?limit=1&');
  });

  it('conforms to its document if it has no JSON, or has not changed', async () => {
    const path = '/v2/exports?status=sold&status=available';
    expect(await call('GET', path)).toMatchObject({ status: 200, text: 'id,name' });
    expect(await call('GET', path, { headers: { 'if-none-match': '"1"' } })).toMatchObject({ status: 304, text: '' });
  });

  it('never replays a response of version 1 for an Idempotency-Key', async () => {
    const request = { headers: { 'idempotency-key': 'both' }, body: { title: 'Rex', name: 'Rex', categoryId: 3 } };
    expect((await call('POST', '/v1/pets', request)).status).toBe(201);
    expect(getCode(await call('POST', '/v2/pets', request))).toBe('idempotency_key_reused');
    expect((await call('POST', '/v1/pets', request)).headers['idempotent-replayed']).toBe('true');
  });

  it('is the successor of a deprecated operation, with the path parameters of the request', async () => {
    const { headers } = await call('GET', '/v1/pets/12%2F7/name');
    expect(headers).toMatchObject({
      deprecation: '@1798761600',
      sunset: 'Wed, 01 Jan 2031 00:00:00 GMT',
    });
    expect(headers.link).toContain(
      `<${OLD_DOCS}/reference#/names/getName>; rel="deprecation"; type="text/html", ` +
        '<https://api.example.com/v2/pets/12%2F7>; rel="successor-version"',
    );
    const links =
      `<${OLD_DOCS}/reference?version=v2#/shelves>; rel="deprecation"; type="text/html", ` +
      '<https://api.example.com/v2/pets>; rel="successor-version"';
    expect((await call('GET', '/v2/shelves')).headers.link).toBe(links);
    expect((await call('GET', '/v2/shelves?limit=1')).headers.link).toMatch(`${links}, </v2/shelves?limit=1&cursor=`);
  });

  it.each([
    ['/v1/shelves', 200],
    ['/v2/shelves', 200],
    ['/v2/shelves/new', 200],
    ['/v1/shelves/new', 404],
  ])(
    'has the operations that its decorators name, also of a controller of both versions: %s %d',
    async (path, status) => {
      expect((await call('GET', path)).status).toBe(status);
    },
  );

  it('counts unknown paths as unmatched in the log, and known paths by their route', async () => {
    logged.length = 0;
    await call('GET', '/v2/none');
    await call('GET', '/v2/pets/999999');
    expect(logged.join('').match(/GET \S+/g)).toEqual(['GET unmatched', 'GET /v2/pets/:petId']);
  });

  it('has its own OpenAPI document, with the operation IDs and schema names of version 1', async () => {
    const document = await readDocument('/openapi-v2.json');
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/pets', '/pets/{petId}', '/shelves', '/shelves/new', '/racks/empty', '/racks']),
    );
    for (const path of ['/pets/{petId}/name', '/rate-limit', '/weather']) {
      expect(document.paths).not.toHaveProperty([path]);
    }
    expect(document.info.version).toBe('2');
    expect(document.servers?.map(({ url }) => url)).toEqual([
      'https://api.example.com/v2',
      'https://staging.example.com/v2',
    ]);
    expect(document.paths['/pets/{petId}']?.get).toMatchObject({ operationId: 'getPet' });
    expect(document.paths['/pets/{petId}']?.get).not.toHaveProperty('deprecated');
    expect(document.paths['/racks']?.get?.operationId).toBe('listRacks');
    expect(document.paths['/shelves']?.get).toMatchObject({ operationId: 'listShelves', deprecated: true });
    expect(Object.keys((document.components?.schemas?.Pet as SchemaObject).properties ?? {})).toEqual(['id', 'title']);
    expect(document.tags?.filter(({ name }) => ['pets', 'names'].includes(name))).toEqual([
      { name: 'pets', description: 'The animals of the store, with titles.' },
    ]);
    expect(document.components?.headers?.Location).toMatchObject({ example: 'https://api.example.com/v2/pets/1' });
    expect(stringifyJson(document)).not.toContain('"Order"');
  });

  it('leaves the OpenAPI document of version 1 unchanged, except for the operations that it shares', async () => {
    const warn = jest.spyOn(Logger, 'warn');
    const { paths, components, tags } = await readDocument('/openapi.json');
    expect(warn).not.toHaveBeenCalled();
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/pets', '/pets/{petId}/name', '/shelves']));
    expect(paths['/racks']?.get?.operationId).toBe('listRacks');
    expect(paths).not.toHaveProperty('/shelves/new');
    expect(paths).not.toHaveProperty('/weather');
    expect(paths['/pets/{petId}']?.get).toMatchObject({
      operationId: 'getPet',
      deprecated: true,
      'x-deprecated-sunset': '2030-12-05',
    });
    expect(paths['/pets']?.post?.operationId).toBe('createPet');
    expect(Object.keys((components?.schemas?.Pet as SchemaObject).properties ?? {})).toContain('status');
    expect(tags?.filter(({ name }) => name === 'pets')).toEqual([
      { name: 'pets', description: 'The animals of the store.' },
    ]);
  });

  it('is in the list of OpenAPI documents that Swagger UI reads', async () => {
    expect((await call('GET', '/docs/openapi-documents.json')).body).toEqual([
      { name: 'v1', url: '../openapi.json' },
      { name: 'v2', url: '../openapi-v2.json' },
    ]);
  });

  it('has only the version that has a handler: every other path is unknown, and needs no key', async () => {
    for (const path of ['/v3/pets', '/v20', '/openapi-v1.json', '/openapi-v3.json']) {
      const { status, headers, body } = await call('GET', path, { headers: { authorization: '' } });
      expect([status, headers['x-ratelimit-limit']]).toEqual([404, undefined]);
      expect(body).toMatchObject({ message: 'No operation has this URL. All operations are under /v1 or /v2.' });
    }
  });

  it('does not include version-neutral operations, which need a key too and are in no document', async () => {
    expect((await call('GET', '/weather', { headers: { authorization: '' } })).status).toBe(401);
    const { status, headers } = await call('GET', '/weather');
    expect([status, headers['x-ratelimit-limit']]).toEqual([200, '1000']);
    expect((await call('GET', '/v2/weather')).status).toBe(404);
  });
});
