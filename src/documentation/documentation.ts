import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { version } from 'swagger-ui-dist/package.json';
import { stringifyJson } from '../shared/http/json';

const SWAGGER_UI_DIRECTORY = dirname(require.resolve('swagger-ui-dist/package.json'));
const PAGE_DIRECTORY = join(__dirname, 'page');
const REVALIDATED = 'no-cache';
const KEPT_FOR_A_DAY = 'public, max-age=86400';

/**
 * Serves Swagger UI at `/docs` and the document at `/openapi.json`. The page is our own, not the one of
 * `SwaggerModule.setup`, whose inline styles a strict Content-Security-Policy does not let through.
 */
export function serveDocumentation(fastify: FastifyInstance, document: OpenAPIObject): void {
  // With the version in their addresses, the assets of another one are never taken from a cache.
  const page = readFileSync(join(PAGE_DIRECTORY, 'index.html'), 'utf8').replaceAll('{version}', version);
  const serve = (path: string, body: string | Buffer, type: string, caching: string, headers = {}) =>
    fastify.get(path, cacheable(body, { 'content-type': type, 'cache-control': caching, ...headers }));
  const asset = (name: string, type: string, directory: string, caching: string) =>
    serve(`/docs/${name}`, readFileSync(join(directory, name)), type, caching);

  serve('/docs', page, 'text/html; charset=utf-8', REVALIDATED, contentSecurityPolicy(document));
  fastify.get('/docs/', (_request, reply) => reply.redirect('../docs', 308));
  asset('petstore.mjs', 'text/javascript; charset=utf-8', PAGE_DIRECTORY, REVALIDATED);
  asset('petstore.css', 'text/css; charset=utf-8', PAGE_DIRECTORY, REVALIDATED);
  asset('swagger-ui-bundle.js', 'text/javascript; charset=utf-8', SWAGGER_UI_DIRECTORY, KEPT_FOR_A_DAY);
  asset('swagger-ui.css', 'text/css; charset=utf-8', SWAGGER_UI_DIRECTORY, KEPT_FOR_A_DAY);
  asset('favicon-32x32.png', 'image/png', SWAGGER_UI_DIRECTORY, KEPT_FOR_A_DAY);
  serve('/openapi.json', stringifyJson(document), 'application/json; charset=utf-8', REVALIDATED);
}

/** Something that does not change while the service runs: caches may ask whether it is still the same. */
function cacheable(content: string | Buffer, headers: Readonly<Record<string, string>>) {
  const body = Buffer.from(content);
  const etag = `"${hash('sha256', body, 'base64url')}"`;
  return (request: FastifyRequest, reply: FastifyReply) => {
    void reply.headers({ ...headers, etag });
    const isKnown = request.headers['if-none-match']?.includes(etag);
    return isKnown ? reply.status(304).send() : reply.send(body);
  };
}

/** Nothing but the page's own files; requests also go to the document's servers, which may be other origins. */
function contentSecurityPolicy({ servers = [] }: OpenAPIObject): Record<string, string> {
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
  return { 'content-security-policy': policy.join('; ') };
}
