import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getApiKeyPrefix } from '../auth';
import { removeVersion, type Settings } from '../config/settings';
import { stringifyJson } from '../shared/json/json';

/** Where the build renders the site (`dist/site`), seen from `dist/` and, in tests, from the sources. */
const SITE_DIRECTORIES = ['../../site', '../../dist/site'].map((path) => join(__dirname, path));
const NO_CACHE = 'no-cache';
const MAX_AGE_ONE_DAY = 'public, max-age=86400';
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
};
/** The URLs of these files contain the version of Swagger UI, so a cache never serves another version. */
const VERSIONED_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'];
/** The content encodings of a file, smallest first. */
const ENCODINGS = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;
/** Higher levels make the document 5% smaller but take ten times as long. */
const BROTLI_QUALITY = 5;

/**
 * Serves the guides and Swagger UI below `/docs`, and the OpenAPI documents at `/openapi.json`, `/openapi-v2.json` and so on. The page for
 * Swagger UI is custom, because a strict Content-Security-Policy blocks the inline styles of `SwaggerModule.setup`. The documents are
 * created and the files are read at the first request, which most replicas never receive.
 */
export function serveDocumentation(
  fastify: FastifyInstance,
  createDocument: (version: string) => OpenAPIObject,
  settings: Settings,
): void {
  const documents = [...fastify.apiVersions].map((version) => ({
    name: `v${version}`,
    file: version === '1' ? 'openapi.json' : `openapi-v${version}.json`,
    get: memoize(() => createDocument(version)),
  }));
  const addRoute = (path: string, create: () => Content) => fastify.get(path, createCacheableHandler(memoize(create)));
  const site = findSite();
  for (const name of readdirSync(site).filter((file) => !/\.(br|gz)$/.test(file))) {
    const page = name.endsWith('.html') ? name.slice(0, -'.html'.length) : undefined;
    const path = page === undefined ? `/docs/${name}` : page === 'index' ? '/docs' : `/docs/${page}`;
    addRoute(path, () => ({
      representations:
        page === undefined
          ? readRepresentations(join(site, name))
          : compress(Buffer.from(fillPage(readFileSync(join(site, name), 'utf8'), settings))),
      headers: {
        'content-type': MEDIA_TYPES[extname(name)] ?? 'application/octet-stream',
        'cache-control': VERSIONED_FILES.includes(name) ? MAX_AGE_ONE_DAY : NO_CACHE,
        ...(page !== undefined && {
          'content-security-policy': createContentSecurityPolicy(
            page === 'reference' ? (documents[0]?.get() ?? {}) : {},
          ),
        }),
      },
    }));
  }
  fastify.get('/docs/', (_request, reply) => reply.redirect('../docs', 308));
  if (settings.environment === 'development') {
    fastify.get('/', (_request, reply) => reply.redirect('docs', 302));
  }
  // For Swagger UI.
  addRoute('/docs/openapi-documents.json', () =>
    createJsonContent(documents.map(({ name, file }) => ({ name, url: `../${file}` }))),
  );
  for (const { file, get } of documents) {
    addRoute(`/${file}`, () => createJsonContent(get()));
  }
}

/** Inserts the settings into a page, and removes links for which there is no setting. */
function fillPage(html: string, settings: Settings): string {
  const values: Readonly<Record<string, string | undefined>> = {
    // The script of the guides replaces this host with that of the page.
    origin: removeVersion(settings.baseUrl) || 'https://HOST',
    keyPrefix: getApiKeyPrefix(settings.environment),
    repository: settings.docsRepositoryUrl,
    support: settings.docsSupportUrl,
  };
  return html
    .replaceAll(/<a href="\{\{(\w+)\}\}[^"]*">(.*?)<\/a>/g, (link, name: string, text: string) =>
      values[name] === undefined ? text : link,
    )
    .replaceAll(/\{\{(\w+)\}\}/g, (_placeholder, name: string) => values[name] ?? '');
}

function createJsonContent(value: unknown): Content {
  return {
    representations: compress(Buffer.from(stringifyJson(value))),
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': NO_CACHE },
  };
}

/** The same content, uncompressed and compressed. */
interface Representations {
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** Content that does not change while the service runs, so caches can revalidate it. */
interface Content {
  readonly representations: Representations;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws Error when the site has not been rendered */
function findSite(): string {
  const site = SITE_DIRECTORIES.find(existsSync);
  if (site === undefined) {
    throw new Error('The documentation is not rendered. Run `npm run build`, or set DOCS_ENABLED=false.');
  }
  return site;
}

function readRepresentations(file: string): Representations {
  const compressed = ENCODINGS.filter(({ extension }) => existsSync(file + extension)).map(
    (encoding) => [encoding.name, readFileSync(file + encoding.extension)] as const,
  );
  return { plain: readFileSync(file), ...Object.fromEntries(compressed) };
}

function compress(plain: Buffer): Representations {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  return { plain, br: brotliCompressSync(plain, { params }), gzip: gzipSync(plain) };
}

function createCacheableHandler(getContent: () => Content) {
  const digest = memoize(() => hash('sha256', getContent().representations.plain, 'base64url'));
  return ({ headers: requestHeaders }: FastifyRequest, reply: FastifyReply) => {
    const { representations, headers } = getContent();
    const encoding = ENCODINGS.find(
      ({ name }) => representations[name] && accepts(requestHeaders['accept-encoding'], name),
    )?.name;
    const body = (encoding && representations[encoding]) ?? representations.plain;
    const etag = `"${digest()}${encoding ? `-${encoding}` : ''}"`;
    void reply.headers({
      ...headers,
      etag,
      vary: 'Accept-Encoding',
      ...(encoding && { 'content-encoding': encoding }),
    });
    const ifNoneMatch = requestHeaders['if-none-match'];
    return ifNoneMatch?.trim() === '*' || ifNoneMatch?.includes(etag)
      ? reply.removeHeader('content-encoding').status(304).send()
      : reply.send(body);
  };
}

/** Whether a client accepts a content coding (RFC 9110 section 12.5.3). */
function accepts(header: string | string[] | undefined, coding: string): boolean {
  const offers = String(header ?? '')
    .toLowerCase()
    .split(',')
    .map((offer) => offer.split(';').map((part) => part.trim()));
  const offer = offers.find(([name]) => name === coding) ?? offers.find(([name]) => name === '*');
  return offer !== undefined && !offer.some((part) => /^q=0(\.0*)?$/.test(part));
}

function memoize<T>(create: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => (cached ??= { value: create() }).value;
}

/** Allows only the site's own files, and requests to the servers in the document, which may have other origins. */
function createContentSecurityPolicy({ servers = [] }: Pick<OpenAPIObject, 'servers'>): string {
  const origins = servers.filter(({ url }) => URL.canParse(url)).map(({ url }) => new URL(url).origin);
  const directives = {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    // Swagger UI's style sheet embeds its icons.
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'", ...new Set(origins)],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  };
  const policy = Object.entries(directives).map(([name, sources]) => [name, ...sources].join(' '));
  return policy.join('; ');
}
