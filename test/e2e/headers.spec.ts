import { findDocumentedMethods } from '../support/documented-methods';
import { type TestResponse, getCode, parseRateLimit, TestService } from '../support/service';

const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
const ACCOUNT_HEADERS = { ...SECURITY_HEADERS, 'cache-control': 'private, no-cache', vary: 'Authorization' };
const HIDDEN = ['server', 'x-powered-by', 'strict-transport-security'];

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await TestService.start({ STAGING_BASE_URL: 'https://staging.example.com/v1' });
  key = await service.createKey();
});
afterAll(() => service.close());

describe('Headers', () => {
  const expectHeaders = ({ headers }: TestResponse, expected: Readonly<Record<string, string>>) => {
    expect(headers).toMatchObject(expected);
    expect(Object.keys(headers).filter((name) => HIDDEN.includes(name))).toEqual([]);
  };

  it.each([
    ['GET', '/v1/pets', 200],
    ['HEAD', '/v1/pets', 200],
    ['GET', '/v1/pets?limit=0', 400],
    ['GET', '/v1/pets/999', 404],
    ['GET', '/v1/pets/%', 400],
    ['GET', '/v1', 404],
    ['GET', '/v1?a', 404],
    ['PUT', '/v1/pets', 405],
    ['POST', '/v1/pets', 400],
  ])(
    'keep the response to %s %s (%i) out of shared caches, and from being rendered as a page',
    async (method, path, status) => {
      const response = await service.call(method, path, { key });
      expect(response.status).toBe(status);
      expectHeaders(response, ACCOUNT_HEADERS);
    },
  );

  it('keep responses to requests without a key, or over the limit, out of shared caches', async () => {
    const unknown = await service.get('/v1/pets');
    expect(unknown.status).toBe(401);
    expectHeaders(unknown, ACCOUNT_HEADERS);
    const small = await service.createKey('enterprise', { perMinute: 1, perDay: 1 });
    await service.get('/v1/pets', { key: small });
    const rejected = await service.get('/v1/pets', { key: small });
    expect(rejected.status).toBe(429);
    expectHeaders(rejected, ACCOUNT_HEADERS);
  });

  it.each(['GET', 'OPTIONS'])('prevent pages of other origins from reading /metrics (%s)', async (method) => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    const { headers: received } = await service.call(method, '/metrics', { headers });
    expect(received).toMatchObject({ ...SECURITY_HEADERS, 'cache-control': 'no-store' });
    expect(Object.keys(received).filter((name) => /^access-control-(allow-origin|expose)/.test(name))).toEqual([]);
  });

  it.each(['/healthz', '/readyz', '/nothing', '/v10', '/%'])('keep %s out of every cache', async (path) => {
    expectHeaders(await service.get(path), { ...SECURITY_HEADERS, 'cache-control': 'no-store' });
  });

  it('are also in responses to input that is not HTTP', async () => {
    const response = (await service.sendRaw('GET /v1/pets HTTP/1.1\r\nno header\r\n\r\n')).toLowerCase();
    for (const [name, value] of Object.entries({ ...SECURITY_HEADERS, 'cache-control': 'no-store' })) {
      expect(response).toContain(`\r\n${name}: ${value.toLowerCase()}\r\n`);
    }
  });

  it.each(['/docs', '/openapi.json'])('make caches revalidate %s each time', async (path) => {
    const { status, headers, text } = await service.get(path);
    expect([status, headers['cache-control']]).toEqual([200, 'no-cache']);
    expect(text).not.toBe('');
    const known = await service.get(path, { headers: { 'if-none-match': `"other", W/${headers.etag ?? ''}` } });
    expect([known.status, known.text, known.headers.etag]).toEqual([304, '', headers.etag]);
    expect((await service.get(path, { headers: { 'if-none-match': '*' } })).status).toBe(304);
    const changed = await service.get(path, { headers: { 'if-none-match': '"other"' } });
    expect([changed.status, changed.text]).toEqual([200, text]);
  });

  it('let caches store the assets of Swagger UI, whose URLs contain its version', async () => {
    const { text } = await service.get('/docs/reference');
    const assets = [...text.matchAll(/<(?:link|script) .*?(?:href|src)="([^"]+)"/g)].map(
      ([, path = '']) => `docs/${path}`,
    );
    expect(assets.length).toBeGreaterThanOrEqual(4);
    for (const asset of assets) {
      const { status, headers } = await service.get(`/${asset}`);
      const caching = /\?\d+\.\d+\.\d+$/.test(asset) ? 'public, max-age=86400' : 'no-cache';
      expect([asset, status, headers['cache-control']]).toEqual([asset, 200, caching]);
      expect(headers.etag).toBeDefined();
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });

  it('let the page of Swagger UI load only its own files, and call only the servers of the document', async () => {
    const { 'content-security-policy': policy = '', ...headers } = (await service.get('/docs/reference')).headers;
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' });
    const directives = Object.fromEntries(
      policy.split('; ').map((directive) => {
        const [name = '', ...sources] = directive.split(' ');
        return [name, sources.join(' ')];
      }),
    );
    expect(directives).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'connect-src': expect.stringMatching(
        /^'self' .*https:\/\/api\.example\.com https:\/\/staging\.example\.com$/,
      ) as string,
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
  });
});

describe('CORS', () => {
  // Then no earlier request without a key counts.
  beforeAll(() => {
    service.clock.advance(60_000);
  });

  it.each(['/v1/pets', '/v1/pets/1'])('allows a preflight of %s without a key, and does not count it', async (path) => {
    const headers = {
      origin: 'https://shop.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    };
    const response = await service.call('OPTIONS', path, { headers });
    expect(response.status).toBe(204);
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-allow-methods']).toBe(findDocumentedMethods().join(', '));
    expect(response.headers['content-length']).toBeUndefined();
    expect(response.headers['access-control-allow-headers']).toBe('authorization,content-type');
    expect(response.headers['x-request-id']).toBeDefined();
    expect(parseRateLimit(response).remaining).toBe(60);
    expect(parseRateLimit(await service.call('OPTIONS', path, { headers })).remaining).toBe(60);
  });
});

describe('The documentation', () => {
  it('is at /docs, redirects from URLs with a slash at the end, and does not expose other files of its packages', async () => {
    for (const [path, location] of [
      ['/docs/', '../docs'],
      ['/docs/errors/?from=mail', '../errors?from=mail'],
    ] as const) {
      const { status, headers } = await service.get(path);
      expect([status, headers.location]).toEqual([308, location]);
    }
    const others = ['package.json', 'swagger-ui.js', '../package.json', 'page', 'index', 'errors.html', 'guide.css.br'];
    for (const path of [
      ...others.map((name) => `/docs/${name}`),
      '/openapiXjson',
      '/docs/swagger-uiXcss',
      '/metrics/',
    ]) {
      expect([path, getCode(await service.get(path))]).toEqual([path, 'route_not_found']);
    }
  });

  it('is read-only: other methods get 405 with Allow, here and elsewhere outside /v1', async () => {
    for (const path of ['/docs', '/docs/swagger-ui.css', '/openapi.json?x=1', '/healthz', '/metrics']) {
      for (const method of ['POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        const response = await service.call(method, path);
        const found = [path, method, response.status, getCode(response), response.headers.allow];
        expect(found).toEqual([path, method, 405, 'method_not_allowed', 'GET, HEAD']);
      }
    }
  });

  it('is not served with DOCS_ENABLED=false, while the operations are', async () => {
    const service = await TestService.start({ DOCS_ENABLED: 'false' });
    try {
      const pages = ['/docs', '/docs/', '/docs/errors', '/docs/reference', '/docs/swagger-ui.css'];
      for (const path of ['/', ...pages, '/openapi.json']) {
        const response = await service.get(path);
        expect([path, response.status, getCode(response)]).toEqual([path, 404, 'route_not_found']);
      }
      const key = await service.createKey();
      expect((await service.get('/v1/pets', { key })).status).toBe(200);
      // Responses do not link to pages that are not served.
      expect((await service.get('/v1/pets/1', { key })).headers.link).toBe(
        '<https://api.example.com/v1/pets>; rel="successor-version"',
      );
      expect((await service.get('/v1/pets')).headers.link).toBeUndefined();
    } finally {
      await service.close();
    }
  });
});
