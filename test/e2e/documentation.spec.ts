import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ERROR_CATALOG } from '../../src/error-catalog';
import { TestService } from '../support/service';

const PAGES = ['', '/getting-started', '/api', '/errors', '/limits', '/versioning', '/changelog', '/reference'].map(
  (name) => `/docs${name}`,
);
const { repository } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as {
  readonly repository: { readonly url: string };
};

describe('The documentation', () => {
  let service: TestService;
  let origin: string;

  beforeAll(async () => {
    service = await TestService.start();
    origin = `http://127.0.0.1:${service.port}`;
  });
  afterAll(() => service.close());

  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    // `fetch` would decompress the body.
    const response = await service.app.inject({ method: method as 'GET', url: path, headers });
    return { status: response.statusCode, headers: response.headers, body: response.rawPayload };
  };
  const findLinks = (page: string, html: string) =>
    [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => new URL(link, `${origin}${page}`));
  const findAnchors = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, anchor]) => anchor);

  it.each(PAGES)('(%s) links only to pages and sections that exist, and otherwise to the repository', async (page) => {
    const links = findLinks(page, (await service.get(page)).text);
    expect(links.map(({ pathname }) => pathname)).toEqual(expect.arrayContaining(PAGES));
    const elsewhere = links.filter((link) => link.origin !== origin && link.origin !== new URL(repository.url).origin);
    expect(elsewhere.map(({ hostname }) => hostname).filter((name) => name.endsWith('.md'))).toEqual([]);
    for (const { pathname, search, hash } of links.filter((link) => link.origin === origin)) {
      const { status, text } = await service.get(pathname + search);
      expect([pathname, status]).toEqual([pathname, 200]);
      if (hash !== '') {
        expect(findAnchors(text)).toContain(hash.slice(1));
      }
    }
    const files = links.filter(({ href }) => href.startsWith(repository.url)).map(({ pathname }) => pathname);
    for (const file of files) {
      expect(readFileSync(join(__dirname, '../..', file.split('/blob/main/')[1] ?? ''), 'utf8')).not.toBe('');
    }
  });

  it('has an anchor for each error code, and every error response links to it', async () => {
    const anchors = findAnchors((await service.get('/docs/errors')).text);
    expect(anchors).toEqual(expect.arrayContaining([...ERROR_CATALOG.codes]));
    const key = await service.createKey();
    const errors = [
      await service.get('/v1/pets'),
      await service.get('/v1/nothing', { key }),
      await service.get('/v1/pets?limit=0', { key }),
      await service.call('PUT', '/v1/pets', { key }),
      await service.call('PUT', '/docs'),
      await service.get('/nothing'),
    ];
    for (const { headers, body } of errors) {
      const { code } = body as { readonly code: string };
      expect(headers.link).toBe(`<https://api.example.com/docs/errors#${code}>; rel="help"; type="text/html"`);
    }
    expect((await service.get('/v1/pets/99', { key })).headers.link).toMatch(
      /^<[^>]+>; rel="deprecation".+, <[^>]+>; rel="successor-version", <[^>]+#pet_not_found>; rel="help"; type="text\/html"$/,
    );
    expect((await service.sendRaw('no HTTP\r\n\r\n')).toLowerCase()).toContain(
      '\r\nlink: <https://api.example.com/docs/errors#malformed_request>; rel="help"; type="text/html"\r\n',
    );
    expect((await service.get('/v1/pets', { key })).headers.link).toBeUndefined();
  });

  it('is rendered from the Markdown in the repository, with unchanged examples', async () => {
    const { text } = await service.get('/docs/getting-started');
    expect(text).toContain('<h1 id="getting-started">Getting started');
    expect(text).toContain('curl -i http://127.0.0.1:3000/v1/pets -H &quot;Authorization: Bearer $KEY&quot;');
    expect(text).not.toMatch(/style=|onclick=|<!--/);
  });

  it.each(['/docs', '/docs/swagger-ui-bundle.js', '/docs/search.json', '/openapi.json'])(
    '(%s) is compressed for clients that accept it',
    async (path) => {
      const plain = await get(path);
      expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept-Encoding']);
      for (const [accepted, encoding, decompress] of [
        ['gzip, deflate, br', 'br', brotliDecompressSync],
        ['gzip;q=1.0, br;q=0', 'gzip', gunzipSync],
        ['*', 'br', brotliDecompressSync],
      ] as const) {
        const { headers, body } = await get(path, { 'accept-encoding': accepted });
        expect([headers['content-encoding'], headers.vary]).toEqual([encoding, 'Accept-Encoding']);
        expect(decompress(body).equals(plain.body)).toBe(true);
        expect(body.length).toBeLessThan(plain.body.length / 2);
        expect(headers.etag).not.toBe(plain.headers.etag);
        const known = { 'accept-encoding': accepted, 'if-none-match': String(headers.etag) };
        expect(await get(path, known)).toMatchObject({ status: 304, headers: { etag: headers.etag } });
        const head = await get(path, { 'accept-encoding': accepted }, 'HEAD');
        expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
          200,
          0,
          headers['content-length'],
        ]);
      }
      for (const accepted of ['identity', 'br;q=0', '*;q=0.0']) {
        expect((await get(path, { 'accept-encoding': accepted })).headers['content-encoding']).toBeUndefined();
      }
    },
  );

  it('is the target of a redirect from /, only in development', async () => {
    expect(await get('/')).toMatchObject({ status: 302, headers: { location: 'docs' } });
    const production = await TestService.start({ APP_ENV: 'production' });
    try {
      expect((await production.get('/')).status).toBe(404);
    } finally {
      await production.close();
    }
  });
});
