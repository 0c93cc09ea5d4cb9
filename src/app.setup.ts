import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AppModule } from './app.module';
import type { Settings } from './config/settings';
import { createOpenApiDocument, serveDocumentation } from './documentation';
import {
  createLog,
  type Log,
  Metrics,
  MetricsEndpoint,
  NestLogger,
  RequestObserver,
  writeEvent,
} from './observability';
import { readIpRateLimitHeaders, RateLimiter, addDefaultRateLimitHeaders } from './rate-limiting';
import { type Clock, SystemClock } from './shared/domain/clock';
import { respondToPreflight } from './shared/http/access/cors';
import { warnOfIgnoredForwardedFor } from './shared/http/access/ignored-forwarded-for';
import { Drain } from './shared/http/server/drain';
import { ErrorCatalog } from './shared/http/errors/error-catalog';
import { ErrorHelp } from './shared/http/errors/error-help';
import { ErrorFilter } from './shared/http/errors/error.filter';
import { createHttpAdapter } from './shared/http/server/http-adapter';
import { getDefaultHeaders } from './shared/http/access/security-headers';
import { respondToProtocolErrors } from './shared/http/server/protocol-errors';
import { openApiVersions } from './shared/http/routing/api-versions';
import { RouteTable } from './shared/http/routing/route-table';

interface AppOptions {
  readonly clock?: Clock;
  readonly log?: Log;
}

/** Creates the application. The database is opened by `init`, and the port by `listen`. */
export async function createApp(
  settings: Settings,
  { clock = new SystemClock(), log = createLog(settings) }: AppOptions = {},
): Promise<NestFastifyApplication> {
  const module = AppModule.forRoot(settings, clock);
  const app = await NestFactory.create<NestFastifyApplication>(module, createHttpAdapter(settings), {
    logger: new NestLogger(log),
    abortOnError: false,
  });
  return configureApp(app, settings, log);
}

/** Registers the hooks around the modules, in the order in which a request passes them. Requires `createHttpAdapter`. */
export function configureApp<App extends INestApplication>(app: App, settings: Settings, log: Log): App {
  const adapter = app.getHttpAdapter() as FastifyAdapter;
  const fastify = adapter.getInstance<FastifyInstance>();
  const [catalog, help, limiter, routes] = [
    app.get(ErrorCatalog),
    app.get(ErrorHelp),
    app.get(RateLimiter),
    app.get(RouteTable),
  ];
  const observer = new RequestObserver(log, app.get(Metrics));
  settings.warnings.forEach((warning) => {
    writeEvent(log, 'setting_ignored', warning);
  });

  openApiVersions(app, fastify);
  // The only hook that runs before the middleware of modules.
  adapter.setOnRequestHook((request, reply, done) => {
    if (!observer.observe(request, reply)) {
      return;
    }
    reply.headers(getDefaultHeaders(request)).header('x-request-id', request.id);
    if (!respondToPreflight(request, reply, routes)) {
      done();
    }
  });
  preferRawHeaders(fastify);
  routes.registerHooks(fastify);
  respondToFastifyErrors(fastify, app.get(ErrorFilter));
  app.get(Drain).registerHooks(fastify);
  warnOfIgnoredForwardedFor(fastify, settings);
  addDefaultRateLimitHeaders(fastify, limiter);
  respondToProtocolErrors(fastify, routes, {
    toDto: (error) => catalog.toDto(error),
    getErrorHeaders: ({ code }) => help.createHeaders(code),
    getRateLimitHeaders: (ip) => readIpRateLimitHeaders(limiter, ip),
    onResponse: (id, status, socket) => {
      observer.recordProtocolError(id, status, socket);
    },
  });
  app.get(MetricsEndpoint).serveOn(fastify);
  if (settings.docsEnabled) {
    serveDocumentation(fastify, (version) => createOpenApiDocument(app, settings, version), settings);
  }
  return app;
}

/** Lets plugins and middleware that know only Node's response, such as helmet, replace security headers before the handler. */
function preferRawHeaders(fastify: FastifyInstance): void {
  fastify.addHook('preHandler', (request, reply, done) => {
    for (const name of reply.raw.getHeaderNames()) {
      if (name !== 'vary' && name in getDefaultHeaders(request)) {
        reply.header(name, reply.raw.getHeader(name));
      }
    }
    done();
  });
}

/**
 * Passes errors that occur outside of Nest's handlers (in hooks, parsers, streams and Fastify's own routes) to the error filter. Nest sets
 * its error handler only after the modules are initialized, and Fastify may have completed the routes by then.
 */
function respondToFastifyErrors(fastify: FastifyInstance, filter: ErrorFilter): void {
  fastify.addHook('onRoute', (route) => {
    route.errorHandler ??= (error, _request, reply) => {
      filter.respond(error, reply);
    };
  });
}
