import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getApiKeyPrefix } from '../auth';
import { removeVersion, type Settings } from '../config/settings';
import { stringifyJson } from '../shared/json/json';
import { stringifyYaml } from './yaml';

/** Where the build renders the site (`dist/site`), seen from `dist/` and, in tests, from the sources. */
const SITE_DIRECTORIES = ['../../site', '../../dist/site'].map((path) => join(__dirname, path));
const NOT_FOUND_PAGE = 'not-found.html';
const NO_CACHE = 'no-cache';
const MAX_AGE_ONE_DAY = 'public, max-age=86400';
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.tgz': 'application/gzip',
};
/** The files into which the settings are inserted. */
const FILLED_FILES = /\.(?:html|md|txt|postman_collection\.json)$/;
/** Pages whose content is on another page now. The redirect has no fragment, so browsers keep theirs. */
const MOVED_PAGES = { limits: 'api', versioning: 'api' };
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
  const names = readdirSync(site).filter((file) => !/\.(br|gz)$/.test(file) && file !== NOT_FOUND_PAGE);
  for (const name of names) {
    const page = name.endsWith('.html') ? name.slice(0, -'.html'.length) : undefined;
    const path =
      name === 'llms.txt'
        ? '/llms.txt'
        : page === undefined
          ? `/docs/${name}`
          : page === 'index'
            ? '/docs'
            : `/docs/${page}`;
    addRoute(path, () => ({
      representations: FILLED_FILES.test(name)
        ? compress(Buffer.from(fillSettings(readFileSync(join(site, name), 'utf8'), settings)))
        : readRepresentations(join(site, name)),
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
  for (const [name, target] of Object.entries(MOVED_PAGES)) {
    fastify.get(`/docs/${name}`, (_request, reply) => reply.redirect(target, 308));
  }
  respondToUnknownUrls(
    fastify,
    settings,
    memoize(() => fillSettings(readFileSync(join(site, NOT_FOUND_PAGE), 'utf8'), settings)),
  );
  // For Swagger UI.
  addRoute('/docs/openapi-documents.json', () =>
    createJsonContent(documents.map(({ name, file }) => ({ name, url: `../${file}` }))),
  );
  for (const { file, get } of documents) {
    addRoute(`/${file}`, () => createJsonContent(get()));
    addRoute(`/${file.replace('.json', '.yaml')}`, () => ({
      representations: compress(Buffer.from(`${stringifyYaml(get())}\n`)),
      headers: { 'content-type': 'application/yaml; charset=utf-8', 'cache-control': NO_CACHE },
    }));
  }
  addRoute('/.well-known/api-catalog', () => createCatalog(documents, settings));
}

/** Lists the documents and the guides for programs that discover APIs (RFC 9727). */
function createCatalog(
  documents: readonly { readonly name: string; readonly file: string }[],
  settings: Settings,
): Content {
  const root = removeVersion(settings.baseUrl);
  const linkset = documents.map(({ name, file }) => ({
    anchor: `${root}/${name}`,
    'service-desc': [{ href: `${root}/${file}`, type: 'application/json' }],
    'service-doc': [{ href: `${root}/docs`, type: 'text/html' }],
  }));
  const content = createJsonContent({ linkset });
  const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
  return { ...content, headers: { ...content.headers, 'content-type': type } };
}

/**
 * Removes a slash at the end of URLs below `/docs`, and shows browsers a page for unknown ones; programs get the usual error. In development,
 * `/` leads to the documentation, unless a module has it.
 */
function respondToUnknownUrls(fastify: FastifyInstance, { environment }: Settings, getPage: () => string): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const { is404, method, url, headers } = request;
    if (!is404 || !['GET', 'HEAD'].includes(method)) {
      done();
      return;
    }
    const isPage = /^\/docs\/[^%]*$/.test(url);
    const [, name, query = ''] = /^[^?]*\/([^/?]+)\/(\?.*)?$/.exec(url) ?? [];
    if (isPage && name !== undefined) {
      void reply.redirect(`../${name}${query}`, 308);
    } else if (environment === 'development' && /^\/(\?|$)/.test(url)) {
      void reply.redirect('docs', 302);
    } else if (isPage && headers.accept?.includes('text/html')) {
      void reply
        .status(404)
        .headers({
          'content-type': MEDIA_TYPES['.html'],
          'cache-control': NO_CACHE,
          'content-security-policy': createContentSecurityPolicy({}),
        })
        .send(getPage());
    } else {
      done();
    }
  });
}

/** Inserts the settings into a text, and removes links for which there is no setting. */
function fillSettings(text: string, settings: Settings): string {
  const values: Readonly<Record<string, string | undefined>> = {
    // The script of the guides replaces this host with that of the page.
    origin: removeVersion(settings.baseUrl) || 'https://HOST',
    keyPrefix: getApiKeyPrefix(settings.environment),
    repository: settings.docsRepositoryUrl?.replace(/\/$/, ''),
    support: settings.docsSupportUrl,
  };
  const removeUnset = (link: string, name: string, label: string) => (values[name] === undefined ? label : link);
  return text
    .replaceAll(
      /<a( class="optional")? href="\{\{(repository|support)\}\}[^"]*">(.*?)<\/a>/g,
      (link, optional: string | undefined, name: string, label: string) =>
        removeUnset(link, name, optional ? '' : label),
    )
    .replaceAll(/\[([^\]]+)\]\(\{\{(repository|support)\}\}[^)]*\)/g, (link, label: string, name: string) =>
      removeUnset(link, name, label),
    )
    .replaceAll(/\{\{(origin|keyPrefix|repository|support)\}\}/g, (_placeholder, name: string) =>
      (values[name] ?? '').replaceAll('"', '%22'),
    );
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
