import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { version } from 'swagger-ui-dist/package.json';
import { stringifyJson } from '../shared/json/json';

const SWAGGER_UI_DIRECTORY = dirname(require.resolve('swagger-ui-dist/package.json'));
const PAGE_DIRECTORY = join(__dirname, 'page');
const REVALIDATED = 'no-cache';
const KEPT_FOR_A_DAY = 'public, max-age=86400';

/**
 * Serves Swagger UI at `/docs` and the document at `/openapi.json`. The page is our own, not the one of
 * `SwaggerModule.setup`, whose inline styles a strict Content-Security-Policy does not let through. The document is made,
 * and the files are read, when first asked for: most replicas never are.
 */
export function serveDocumentation(fastify: FastifyInstance, createDocument: () => OpenAPIObject): void {
  const document = once(createDocument);
  const serve = (path: string, make: () => Content) => fastify.get(path, cacheable(once(make)));
  const asset = (name: string, type: string, directory: string, caching: string) =>
    serve(`/docs/${name}`, () => ({
      body: readFileSync(join(directory, name)),
      headers: { 'content-type': type, 'cache-control': caching },
    }));

  serve('/docs', () => ({
    // With the version in their addresses, the assets of another one are never taken from a cache.
    body: Buffer.from(readFileSync(join(PAGE_DIRECTORY, 'index.html'), 'utf8').replaceAll('{version}', version)),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': REVALIDATED,
      'content-security-policy': contentSecurityPolicy(document()),
    },
  }));
  fastify.get('/docs/', (_request, reply) => reply.redirect('../docs', 308));
  asset('petstore.mjs', 'text/javascript; charset=utf-8', PAGE_DIRECTORY, REVALIDATED);
  asset('petstore.css', 'text/css; charset=utf-8', PAGE_DIRECTORY, REVALIDATED);
  asset('swagger-ui-bundle.js', 'text/javascript; charset=utf-8', SWAGGER_UI_DIRECTORY, KEPT_FOR_A_DAY);
  asset('swagger-ui.css', 'text/css; charset=utf-8', SWAGGER_UI_DIRECTORY, KEPT_FOR_A_DAY);
  asset('favicon-32x32.png', 'image/png', SWAGGER_UI_DIRECTORY, KEPT_FOR_A_DAY);
  serve('/openapi.json', () => ({
    body: Buffer.from(stringifyJson(document())),
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': REVALIDATED },
  }));
}

/** Something that does not change while the service runs: caches may ask whether it is still the same. */
interface Content {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

function cacheable(content: () => Content) {
  const etagOf = once(() => `"${hash('sha256', content().body, 'base64url')}"`);
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { body, headers } = content();
    const etag = etagOf();
    void reply.headers({ ...headers, etag });
    const known = request.headers['if-none-match'];
    return known?.trim() === '*' || known?.includes(etag) ? reply.status(304).send() : reply.send(body);
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Nothing but the page's own files; requests also go to the document's servers, which may be other origins. */
function contentSecurityPolicy({ servers = [] }: OpenAPIObject): string {
  const origins = servers.filter(({ url }) => URL.canParse(url)).map(({ url }) => new URL(url).origin);
  const directives = {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    // Swagger UI's style sheet has its icons in itself.
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'", ...new Set(origins)],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  };
  const policy = Object.entries(directives).map(([name, sources]) => [name, ...sources].join(' '));
  return policy.join('; ');
}
