import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { parse } from 'yaml';
import { ERROR_CATALOG } from '../../src/error-catalog';
import { stringifyJson } from '../../src/shared/json/json';
import { TestService } from '../support/service';

const GUIDES = ['getting-started', 'api', 'errors', 'client', 'changelog'];
const PAGES = ['/docs', ...[...GUIDES, 'reference'].map((name) => `/docs/${name}`)];
const REPOSITORY = 'https://git.example/acme';
const SUPPORT = 'https://support.example/petstore';

let service: TestService;
let origin: string;

beforeAll(async () => {
  service = await TestService.start({ DOCS_REPOSITORY_URL: REPOSITORY, DOCS_SUPPORT_URL: SUPPORT });
  origin = `http://127.0.0.1:${service.port}`;
});
afterAll(() => service.close());

describe('The documentation', () => {
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
    const elsewhere = links.filter((link) => link.origin !== origin && !link.href.startsWith(REPOSITORY));
    expect(elsewhere.map(({ hostname }) => hostname).filter((name) => name.endsWith('.md'))).toEqual([]);
    for (const { pathname, search, hash } of links.filter((link) => link.origin === origin)) {
      const { status, text } = await service.get(pathname + search);
      expect([pathname, status]).toEqual([pathname, 200]);
      if (hash !== '') {
        expect(findAnchors(text)).toContain(hash.slice(1));
      }
    }
    const files = links.filter(({ href }) => href.startsWith(`${REPOSITORY}/`)).map(({ pathname }) => pathname);
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

  it.each([
    ...PAGES,
    ...GUIDES.map((name) => `/docs/${name}.md`),
    '/llms.txt',
    '/docs/petstore.postman_collection.json',
  ])('(%s) has the URL of the deployment, and no placeholder', async (page) => {
    const text = (await get(page)).body.toString();
    expect(text).not.toMatch(
      /127\.0\.0\.1|npm run|demo-key|npm pack|(?<!support@)petstore\.example|\{\{(?!baseUrl|apiKey|\$guid|\w+Id)|style=|onclick=|<!--/,
    );
  });

  it('is rendered from the Markdown in the repository, with the URL of the deployment in the examples', async () => {
    const { text } = await service.get('/docs/getting-started');
    expect(text).toContain('<h1 id="getting-started">Getting started');
    const [, code = ''] = /<code>([^]*?curl[^]*?)<\/code>/.exec(text) ?? [];
    expect(code.replaceAll(/<[^>]+>/g, '')).toContain(
      'curl -i https://api.example.com/v1/pets -H &#34;Authorization: Bearer $KEY&#34;',
    );
  });

  it('links to the source and to support only if the operator has set where they are', async () => {
    expect((await service.get('/docs/errors')).text).toMatch(new RegExp(`<a [^>]*href="${SUPPORT}">Support</a>`));
    const other = await TestService.start();
    try {
      for (const page of PAGES) {
        const outside = findLinks(page, (await other.get(page)).text).filter((link) => link.origin !== origin);
        expect(outside.map(({ hostname }) => hostname).filter((name) => /\.example(\.com)?$/.test(name))).toEqual([]);
      }
    } finally {
      await other.close();
    }
  });

  it('lists every operation on the reference page, for readers without JavaScript', async () => {
    const { text } = await service.get('/docs/reference');
    const document = JSON.parse((await service.get('/openapi.json')).text) as OpenAPIObject;
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, { operationId, summary = '' }] of Object.entries(item as Record<string, OperationObject>)) {
        expect(text).toContain(`<code>${method.toUpperCase()} ${path}</code>`);
        expect(text).toMatch(new RegExp(`id="/[^"]+/${operationId}"`));
        expect(text).toContain(`<strong>${summary}</strong>`);
      }
    }
  });

  it('shows browsers a page for a wrong URL, and programs the usual error', async () => {
    for (const path of ['/docs/nothing', '/docs/a/b']) {
      const page = await get(path, { accept: 'text/html,*/*;q=0.8' });
      expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect(page.body.toString()).toContain('<h1>Page not found</h1>');
      expect(page.headers['content-security-policy']).toContain("script-src 'self'");
      expect((await get(path)).headers['content-type']).toBe('application/json; charset=utf-8');
    }
    expect((await get('/docs', { accept: 'text/html' }, 'POST')).status).toBe(405);
  });

  it('offers the typed client, a Postman collection, and Markdown of each guide', async () => {
    const home = (await service.get('/docs')).text;
    const [, path = ''] = /npm<\/span> install https:\/\/api\.example\.com([^<\s]+)/.exec(home) ?? [];
    const client = await get(path);
    expect([client.status, client.headers['content-type']]).toEqual([200, 'application/gzip']);
    const names = gunzipSync(client.body).toString('latin1');
    for (const file of ['dist/index.js', 'dist/index.d.ts', 'dist/cjs/index.js', 'README.md']) {
      expect(names).toContain(`package/${file}`);
    }
    const collection = await service.get('/docs/petstore.postman_collection.json');
    expect(JSON.parse(collection.text)).toMatchObject({
      variable: expect.arrayContaining([{ key: 'baseUrl', value: 'https://api.example.com/v1' }]) as object,
    });
    const index = (await service.get('/llms.txt')).text;
    for (const name of GUIDES) {
      expect(index).toContain(`(https://api.example.com/docs/${name}.md)`);
      expect((await service.get(`/docs/${name}.md`)).text).toMatch(/^# /);
    }
  });

  it('has the document as YAML too, and names both in a catalog', async () => {
    const [yaml, json, catalog] = await Promise.all(
      ['/openapi.yaml', '/openapi.json', '/.well-known/api-catalog'].map((path) => service.get(path)),
    );
    expect(yaml?.text).toMatch(/^"openapi": "3\.1\.0"\n/);
    // As numbers, the bounds of int64 would be rounded on both sides.
    expect(parse(yaml?.text ?? '')).toEqual(JSON.parse(json?.text ?? ''));
    expect(yaml?.text).toContain('9223372036854775807');
    expect(catalog?.headers['content-type']).toMatch(/^application\/linkset\+json; profile="/);
    expect(JSON.parse(catalog?.text ?? '')).toEqual({
      linkset: expect.arrayContaining([
        {
          anchor: 'https://api.example.com/v1',
          'service-desc': [{ href: 'https://api.example.com/openapi.json', type: 'application/json' }],
          'service-doc': [{ href: 'https://api.example.com/docs', type: 'text/html' }],
        },
      ]) as unknown,
    });
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

  it.each(['limits', 'versioning'])('redirects from the earlier page /docs/%s', async (name) => {
    expect(await get(`/docs/${name}`)).toMatchObject({ status: 308, headers: { location: 'api' } });
  });

  it('is the target of a redirect from /, only in development', async () => {
    for (const path of ['/', '/?a=1']) {
      expect(await get(path)).toMatchObject({ status: 302, headers: { location: 'docs' } });
    }
    const production = await TestService.start({ APP_ENV: 'production' });
    try {
      expect((await production.get('/')).status).toBe(404);
    } finally {
      await production.close();
    }
  });
});

describe('Outside /v1', () => {
  it.each(['/healthz', '/readyz', '/docs', '/docs/errors', '/docs/reference', '/docs/swagger-ui.css', '/openapi.json'])(
    '%s needs no key and has no rate limit',
    async (path) => {
      const response = await service.get(path);
      expect(response.status).toBe(200);
      expect(response.headers['x-ratelimit-limit']).toBeUndefined();
    },
  );

  it('the OpenAPI document equals openapi.json, which `npm run openapi` writes', async () => {
    const own = await TestService.start({
      PUBLIC_BASE_URL: 'https://api.petstore.example/v1',
      STAGING_BASE_URL: 'https://staging.petstore.example/v1',
    });
    const { text } = await own.get('/openapi.json');
    await own.close();
    const committed = readFileSync(join(__dirname, '../../openapi.json'), 'utf8');
    expect(JSON.parse(text)).toEqual(JSON.parse(committed));
    expect(committed).toContain('"maximum": 9223372036854775807');
  });

  it('the OpenAPI document has no quotes in patterns of parameters, which some generators copy into strings', async () => {
    const { parameters = {} } = ((await service.get('/openapi.json')).body as OpenAPIObject).components ?? {};
    const patterns = Object.values(parameters).map((parameter) =>
      stringifyJson('schema' in parameter && parameter.schema),
    );
    expect(patterns).toContainEqual(expect.stringContaining('"pattern":'));
    expect(patterns.filter((schema) => schema.includes('\\"'))).toEqual([]);
  });
});
