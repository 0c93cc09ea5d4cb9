import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOG } from '../../src/error-catalog';
import { ErrorCatalog } from '../../src/shared/http/errors/error-catalog';
import type { ErrorCases } from '../support/documented-errors';
import { findDocumentedMethods } from '../support/documented-methods';
import { type TestResponse, getCode, TestService } from '../support/service';

describe('Errors', () => {
  let service: TestService;
  let key: string;

  beforeAll(async () => {
    service = await TestService.start({ AUTH_FAILURES_PER_MINUTE: '1000000' });
    key = await service.createKey('enterprise', { perMinute: 100_000, perDay: 100_000 });
  });
  afterAll(() => service.close());

  const parseStatuses = (response: string) =>
    [...response.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

  it.each(['/v1', '/v1/', '/v1/pets//1', '/v1/nowhere/else', '/v1/-', '/v1?x=1'])(
    '404 route_not_found: %s is not an operation',
    async (path) => {
      const response = await service.get(path, { key });
      expect([response.status, getCode(response)]).toEqual([404, 'route_not_found']);
    },
  );

  it.each(['/v1#', '/v1/#', '/v1/pets#', '/v1/pets/#', '/v1/pets/1#x', '/v1/pets?limit=1#x', '/%76%31/pets/#'])(
    '400 malformed_url: %s has a fragment, which is no way around the API key',
    async (path) => {
      const send = (authorization: string) =>
        service.sendRaw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}\r\n`);
      expect(await send('')).toMatch(/^HTTP\/1\.1 401 [^]+"code":"missing_api_key"/);
      const rejected = await send(`Authorization: Bearer ${key}\r\n`);
      expect(rejected).toMatch(/^HTTP\/1\.1 400 [^]+x-ratelimit-limit: 100000\r\n[^]+"code":"malformed_url"/i);
    },
  );

  it.each(['/v9/pets', '/pets', '/v1x', '/favicon.ico'])(
    '404 route_not_found: nothing has the path %s',
    async (path) => {
      const response = await service.get(path);
      expect([response.status, getCode(response)]).toEqual([404, 'route_not_found']);
      expect(response.headers['x-ratelimit-limit']).toBeUndefined();
    },
  );

  const [ofList, ofOne] = [findDocumentedMethods('/pets'), findDocumentedMethods('/pets/{petId}')];

  it.each(
    ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'PURGE', 'M-SEARCH'].filter(
      (method) => ![...ofList, ...ofOne].includes(method),
    ),
  )('405 method_not_allowed: %s, with Allow', async (method) => {
    for (const [path, methods] of [
      ['/v1/pets', ofList],
      ['/v1/pets/1?x=1', ofOne],
    ] as const) {
      const { status, headers } = await service.call(method, path, { key });
      expect([status, headers.allow]).toEqual([405, methods.join(', ')]);
    }
  });

  it('a character that needs no percent-encoding makes no other URL', async () => {
    expect((await service.get('/%761/pet%73', { key })).headers['x-ratelimit-limit']).toBeDefined();
    const response = await service.call('DELETE', '/v1/pet%73', { key });
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    expect(getCode(await service.get('/v1/pets/%31%2f', { key }))).toBe('pet_not_found');
  });

  it.each(['/v1/pets/%zz', '/v1/pets/%', '/v1/pets/%ff', '/v1/pets?status=%E0%A4%A', '/v1/%c0%ae', '/v1/%'])(
    '400 malformed_url: %s',
    async (path) => {
      const response = await service.get(path, { key });
      expect([response.status, getCode(response)]).toEqual([400, 'malformed_url']);
      expect(response.headers['x-ratelimit-remaining']).toBeDefined();
    },
  );

  it('400 malformed_url, also outside /v1', async () => {
    expect(getCode(await service.get('/%zz'))).toBe('malformed_url');
  });

  it('414 uri_too_long: a URL of more than 8000 characters', async () => {
    const createUrl = (length: number) => '/v1/pets?x='.padEnd(length, 'a');
    expect((await service.get(createUrl(8_000), { key })).status).toBe(200);
    const response = await service.get(createUrl(8_001), { key });
    expect([response.status, getCode(response)]).toEqual([414, 'uri_too_long']);
  });

  describe('input that is not a valid HTTP request gets an Error and the rate limit headers', () => {
    it.each([
      [
        'a URL that exceeds the limit of the HTTP layer',
        `GET /v1/pets?${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        'uri_too_long',
        414,
      ],
      [
        'headers that exceed the limit of the HTTP layer',
        `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
        'headers_too_large',
        431,
      ],
      ['an unknown method', 'NONSENSE /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 'malformed_request', 400],
      ['a malformed header', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 'malformed_request', 400],
      [
        'two Content-Length headers',
        'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc',
        'malformed_request',
        400,
      ],
    ])('%s', async (_, bytes, code, status) => {
      const response = await service.sendRaw(bytes);
      const [head = '', body = ''] = response.split('\r\n\r\n');
      expect(head).toContain(`HTTP/1.1 ${status} `);
      expect(head.toLowerCase()).toMatch(/x-request-id: .+/);
      expect(head.toLowerCase()).toMatch(
        /x-ratelimit-limit: 1000000\r\nx-ratelimit-remaining: \d+\r\nx-ratelimit-reset: \d+/,
      );
      expect(head.toLowerCase()).toMatch(
        /\r\nratelimit-policy: "client-ip";q=1000000;w=60\r\nratelimit: "client-ip";r=\d+;t=\d+/,
      );
      expect(head.toLowerCase()).toContain('content-type: application/json');
      expect(head.toLowerCase()).toMatch(/\r\ndate: \w{3}, .+ gmt\r\n/);
      expect(JSON.parse(body)).toEqual({ code, message: expect.any(String) as string, status });
    });

    it('a malformed request in absolute form gets the rate limit headers', async () => {
      const response = await service.sendRaw(
        'GET http://api.example.com/v1/pets HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n',
      );
      expect(response).toContain('HTTP/1.1 400 ');
      expect(response).toContain('x-ratelimit-limit: 1000000');
      expect(await service.sendRaw('GET http://x/docs HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n')).not.toContain(
        'x-ratelimit',
      );
    });

    it('a malformed HEAD request gets no body', async () => {
      const [head, ...body] = (await service.sendRaw('HEAD /v1/pets HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n')).split(
        '\r\n\r\n',
      );
      expect(head).toContain('HTTP/1.1 400 ');
      expect(body).toEqual(['']);
    });

    it('CONNECT gets 405', async () => {
      const response = await service.sendRaw('CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com\r\n\r\n');
      expect(response).toContain('HTTP/1.1 405 ');
      expect(response).toContain(`\r\nallow: ${findDocumentedMethods().join(', ')}\r\n`);
      expect(response).toContain('"code":"method_not_allowed"');
    });

    it('input that does not request a path under /v1 gets no rate limit headers', async () => {
      expect(await service.sendRaw('NONSENSE /docs HTTP/1.1\r\n\r\n')).not.toContain('x-ratelimit');
    });
  });

  describe('on one connection', () => {
    const createRequest = (name: string) => {
      const body = JSON.stringify({ name, categoryId: 1 });
      const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
      return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    };
    const parseNames = (response: string) => [...response.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name);

    it('malformed bytes after the response to an unfinished request end the connection', async () => {
      const head = `POST /v1/nope HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const response = await service.sendRaw(`${head}3\r\nabc\r\n`, { afterResponse: 'ZZZ\r\n' });
      expect(parseStatuses(response)).toEqual([404]);
    });

    it.each([
      ['malformed bytes', 'NONSENSE\r\n\r\n', 400],
      ['a malformed header', 'GET /v1/pets HTTP/1.1\r\nbad header\r\n\r\n', 400],
      ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ])('requests that arrive together with %s get their responses first, in order', async (_, rest, status) => {
      const names = Array.from({ length: 16 }, (_each, index) => `together-${index}`);
      const response = await service.sendRaw(names.map(createRequest).join('') + rest);
      expect(parseStatuses(response)).toEqual([...names.map(() => 201), status]);
      expect(parseNames(response)).toEqual(names);
    });

    it('more than 16 waiting requests end the connection after the current response', async () => {
      const get = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
      const last = get.replace('Host', 'Connection: close\r\nHost');
      expect(parseStatuses(await service.sendRaw(get.repeat(16) + last))).toEqual(Array(17).fill(200));
      expect(parseStatuses(await service.sendRaw(get.repeat(18)))).toEqual([200]);
    });

    it('a malformed body gets one 400, after the responses to earlier requests', async () => {
      const chunked = createRequest('never').replace(
        /Content-Length: \d+\r\n\r\n.*/,
        'Transfer-Encoding: chunked\r\n\r\nnonsense\r\n',
      );
      const response = await service.sendRaw(createRequest('before') + chunked + createRequest('after'));
      expect(parseStatuses(response)).toEqual([201, 400]);
    });

    it('a body that becomes malformed gets the limits of its key, and the ID of its request', async () => {
      const head = createRequest('never').replace(/Content-Length: \d+\r\n\r\n.*/, 'X-Request-Id: mine\r\n');
      const [, response = ''] = (
        await service.sendRaw(`${head}Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n`, {
          afterResponse: 'ZZZ\r\n',
        })
      ).split('HTTP/1.1 400 ');
      expect(response).toMatch(/x-request-id: mine\r\n/);
      expect(response).toMatch(/ratelimit-policy: "minute"/);
    });

    it('a malformed request gets the response to its own method, not to that of an earlier request', async () => {
      const get = 'GET /docs HTTP/1.1\r\nHost: x\r\n\r\n';
      const responses = (await service.sendRaw(`${get}HEAD /v1/pets HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n`)).split(
        'HTTP/1.1 400 ',
      );
      expect(responses).toHaveLength(2);
      expect(responses[1]).toContain('x-ratelimit-limit');
      expect(responses[1]).not.toContain('"code"');
    });

    it('requests get their responses even if the client has closed its side', async () => {
      const response = await service.sendRaw(createRequest('one') + createRequest('two'), { halfClose: true });
      expect(parseStatuses(response)).toEqual([201, 201]);
      expect(parseStatuses(await service.sendRaw('GET /v1/pets HTTP/1.1\r\nHo', { halfClose: true }))).toEqual([400]);
    });

    it('input after a request that closes the connection is ignored', async () => {
      const last = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`;
      expect(parseStatuses(await service.sendRaw(`${last}NONSENSE\r\n\r\n`))).toEqual([200]);
    });
  });

  it('400 malformed_request: a request without Host', async () => {
    const response = await service.sendRaw(
      `GET /v1/pets HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    expect(response).toContain('HTTP/1.1 400');
    expect(response).toContain('"code":"malformed_request"');
    expect(response).toContain('x-ratelimit-limit: 100000');
  });

  it.each([
    ['two Host fields', 'Host: x\r\nHost: y\r\n', 'malformed_request'],
    ['two Host fields, after many others', `Host: x\r\n${'a:\r\n'.repeat(1_000)}Host: y\r\n`, 'malformed_request'],
    ['an empty Host', 'Host:\r\n', 'malformed_request'],
    ['a Host that is no host', 'Host: a/b\r\n', 'malformed_request'],
    ['a transfer coding other than chunked', 'Host: x\r\nTransfer-Encoding: gzip, chunked\r\n', 'not_implemented'],
    ['a transfer coding without chunked', 'Host: x\r\nTransfer-Encoding: gzip\r\n', 'not_implemented'],
    ['a length and a coding', 'Host: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n', 'malformed_request'],
    ['a coding and a length', 'Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n', 'malformed_request'],
  ])('a request with %s gets %s', async (_, fields, code) => {
    const head = `POST /v1/pets HTTP/1.1\r\n${fields}Authorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
    const response = await service.sendRaw(`${head}0\r\n\r\n`);
    expect(response).toContain(`HTTP/1.1 ${code === 'not_implemented' ? 501 : 400} `);
    expect(response).toContain(`"code":"${code}"`);
  });

  it('an Upgrade is ignored, and what arrives with it is served', async () => {
    const createGet = (path: string, fields: string) =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${fields}\r\n`;
    const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
    const response = await service.sendRaw(
      createGet('/v1/pets?limit=1', '') +
        createGet('/v1/unknown', upgrade) +
        createGet('/v1/pets?limit=0', upgrade) +
        createGet('/v1/rate-limit', 'Connection: close\r\n'),
    );
    expect(parseStatuses(response)).toEqual([200, 404, 400, 200]);
  });

  it('an Upgrade of a request with a body is ignored', async () => {
    const body = '{"name":"Rex","categoryId":1}';
    const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const upgrade = `Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: ${body.length}\r\n`;
    const response = await service.sendRaw(`POST /v1/pets HTTP/1.1\r\n${fields}${upgrade}\r\n${body}`, {
      halfClose: true,
    });
    expect(parseStatuses(response)).toEqual([201]);
    const preflight = `Origin: https://shop.example\r\nAccess-Control-Request-Method: GET\r\n${upgrade}\r\n${body}`;
    const request = `OPTIONS /v1/pets HTTP/1.1\r\nHost: x\r\n${preflight}`;
    expect(parseStatuses(await service.sendRaw(request, { halfClose: true }))).toEqual([204]);
  });

  it('an Upgrade is ignored, even if the client has closed its side', async () => {
    const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
    const request = `GET /v1/pets?limit=1 HTTP/1.1\r\n${fields}Connection: Upgrade\r\nUpgrade: x\r\n\r\n`;
    const response = await service.sendRaw(request, { halfClose: true });
    expect(parseStatuses(response)).toEqual([200]);
  });

  it('an unknown expectation is ignored', async () => {
    const response = await service.get('/v1/pets', { key, headers: { expect: 'the-unexpected' } });
    expect(response.status).toBe(200);
  });

  it.each([
    ['proxy.example', '200 OK'],
    ['[::1]:80', '200 OK'],
    ['', '400 Bad Request'],
    ['[::1', '400 Bad Request'],
    ['user@proxy.example', '400 Bad Request'],
  ])('a target in absolute form is treated as its path if its host is valid: http://%s, %s', async (host, status) => {
    const response = await service.sendRaw(
      `GET http://${host}/v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    expect(response).toContain(`HTTP/1.1 ${status}`);
    expect(response).toContain('x-ratelimit-limit: 100000');
  });

  describe('X-Request-Id', () => {
    it.each(['abc-123', 'a'.repeat(128), '5f2c:1/2+3=4'])('accepts %.20s from the gateway', async (id) => {
      expect((await service.get('/v1/pets', { key, headers: { 'x-request-id': id } })).headers['x-request-id']).toBe(
        id,
      );
    });

    it.each(['', 'a'.repeat(129), 'with space', 'a"b', '<script>'])('replaces %.20s', async (id) => {
      const { headers } = await service.get('/v1/pets', { key, headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    });

    it.each(['/v1/pets', '/healthz', '/nowhere', '/%zz', '/docs', '/openapi.json'])(
      'is in the response to %s',
      async (path) => {
        expect((await service.get(path)).headers['x-request-id']).toBeDefined();
      },
    );
  });
});

describe('The error catalog, from which docs/errors.md is generated,', () => {
  let service: TestService;
  let cases: ReadonlyMap<string, () => Promise<TestResponse | string>>;

  beforeAll(async () => {
    service = await TestService.start({ TRUST_PROXY: '1' });
    const key = await service.createKey();
    const files = readdirSync(__dirname, { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('documented-errors.ts'));
    const modules = await Promise.all(
      files.map((file) => import(join(__dirname, file)) as Promise<{ readonly createErrorCases: ErrorCases }>),
    );
    cases = new Map(modules.flatMap(({ createErrorCases }) => Object.entries(createErrorCases(service, key))));
  });
  afterAll(() => service.close());

  it.each(ERROR_CATALOG.codes)('has for %s the actual response of the service', async (code) => {
    const send = cases.get(code);
    if (send === undefined) {
      throw new Error(`No request gets ${code}: add one to the module's documented-errors.ts below test/e2e.`);
    }
    const response = await send();
    const { message, status } = ERROR_CATALOG.get(code);
    expect(JSON.parse(typeof response === 'object' ? response.text : response)).toEqual({ code, message, status });
  });

  it('has every code in a documented-errors.ts below test/e2e', () => {
    expect([...cases.keys()].sort()).toEqual([...service.app.get(ErrorCatalog).codes].sort());
  });
});
