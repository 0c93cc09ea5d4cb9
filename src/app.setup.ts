import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { HttpStatus, type INestApplication, VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppModule } from './app.module';
import type { Settings } from './config/settings';
import { serveDocumentation } from './documentation/documentation';
import { createLog, type Log, Metrics, MetricsEndpoint, NestLogger, RequestObserver } from './observability';
import { createOpenApiDocument } from './openapi';
import { RateLimiter, rateLimitHeaders, setRateLimitHeaders } from './rate-limiting';
import { type Clock, SystemClock } from './shared/domain/clock';
import { clientAddress } from './shared/http/client-address';
import { preflightHeaders } from './shared/http/cors';
import type { PetStoreError } from './shared/domain/pet-store-error';
import { Drain } from './shared/http/drain';
import { ErrorCatalog } from './shared/http/error-catalog';
import { toErrorResponse } from './shared/http/error.filter';
import { stringifyJson } from './shared/http/json';
import { deferBodies } from './shared/http/json-body';
import { asksForV1, isHead, protocolError, type ProtocolFailure, writeError } from './shared/http/protocol-errors';
import { limitPipelining, stopReading } from './shared/http/pipelining';
import { initialHeaders } from './shared/http/protective-headers';
import { methodNotAllowed, RouteTable } from './shared/http/route-table';
import { isUnderV1, rewriteUrl } from './shared/http/url-check';

/** A request id of a gateway that is worth keeping: short, and harmless in a log line, so no misplaced API key. */
const SANE_REQUEST_ID = /^(?!.*pets_(live|test)_)[A-Za-z0-9._~+/=:-]{1,128}$/;
const MAX_PARAMETER_LENGTH = 8_192;
/** How long a client may take to send its header fields, and its whole request. */
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** How a connection fails whose client is not there any more, whether it sent something or not. */
const CLIENT_WENT = new Set<string | undefined>(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

export interface AppOptions {
  readonly clock?: Clock;
  readonly log?: Log;
}

/** Builds the application as it is served; nothing listens and no database is opened until it is initialised. */
export async function createApp(
  settings: Settings,
  { clock = new SystemClock(), log = createLog(settings) }: AppOptions = {},
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    trustProxy: trustedProxies(settings.trustProxy),
    genReqId: requestId,
    rewriteUrl,
    // Node would answer a request without Host by itself, without an Error (see url-check.ts).
    http: { requireHostHeader: false, headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 1_000 },
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // No route has a schema of Fastify's: what would compile them need not be loaded.
    schemaController: { compilersFactory: { buildValidator: neverCompiles, buildSerializer: neverCompiles } },
    // No Express-style middleware is used.
    skipMiddie: true,
    return503OnClosing: false,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      // It meets no hook.
      observer.watch(request, reply);
      const response = toErrorResponse(error, request.id, app.get(ErrorCatalog));
      void reply
        .headers({ ...initialHeaders(request.url), 'x-request-id': request.id })
        .status(response.status)
        .send(response);
    },
    clientErrorHandler: (failure, socket) => {
      void endWithError(socket, failure, protocolError(failure), app, observer);
    },
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  deferBodies(fastify);
  for (const property of ['principal', 'rateOutcome', 'traceId']) {
    fastify.decorateRequest(property, undefined);
  }
  fastify.setReplySerializer((payload) => stringifyJson(payload));

  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(settings, clock), adapter, {
    bodyParser: false,
    logger: new NestLogger(log),
    abortOnError: false,
  });
  const observer = new RequestObserver(log, app.get(Metrics));
  const routes = app.get(RouteTable);
  routes.observe(fastify);
  const drain = app.get(Drain);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (drain.turnsAway(request.method)) {
      reply.hijack();
      request.raw.destroy();
      return;
    }
    observer.watch(request, reply);
    reply.headers(initialHeaders(request.url)).header('x-request-id', request.id);
    const preflight = preflightHeaders(request.method, request.headers, routes.methods());
    if (preflight !== undefined) {
      void reply.status(HttpStatus.NO_CONTENT).headers(preflight).send();
      return;
    }
    const allowed = request.is404 ? routes.methodsAt(request.url.split('?', 1)[0] ?? '') : [];
    if (allowed.length > 0) {
      const error = app.get(ErrorCatalog).toResponse(methodNotAllowed(request.method, allowed));
      void reply.status(error.status).header('allow', allowed.join(', ')).send(error);
      return;
    }
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (drain.isDraining) {
      reply.header('connection', 'close');
    }
    if (reply.hasHeader('x-ratelimit-limit')) {
      done(null, payload);
      return;
    }
    void addMissingRateLimitHeaders(request, reply, app.get(RateLimiter)).then(
      () => {
        done(null, payload);
      },
      (error: unknown) => {
        done(error as Error);
      },
    );
  });
  limitPipelining(fastify.server);
  ignoreExpectations(fastify.server);
  answerHalfClosed(fastify.server);
  fastify.server.on('connect', ({ method = '', socket }) => {
    const allowed = routes.methods();
    const headers = { allow: allowed.join(', ') };
    void endWithError(socket, undefined, methodNotAllowed(method, allowed), app, observer, headers);
  });
  app.get(MetricsEndpoint).serveOn(fastify);
  app.enableVersioning({ type: VersioningType.URI });
  if (settings.docsEnabled) {
    serveDocumentation(fastify, () => createOpenApiDocument(app, settings));
  }
  return app;
}

function neverCompiles(): never {
  throw new Error('Routes declare no schemas to Fastify.');
}

/** With n gateways in front, the n addresses nearest to the service are theirs, its own peer being number 0. */
function trustedProxies(trustProxy: Settings['trustProxy']) {
  return typeof trustProxy === 'number' ? (_address: string, hop: number) => hop < trustProxy : trustProxy;
}

function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && SANE_REQUEST_ID.test(sent) ? sent : randomUUID();
}

/**
 * The three rate headers belong on every response under `/v1`. The guards set them; an answer that never met a guard,
 * such as a CORS preflight or a 503 while the key could not be looked up, shows the window of the client's address.
 */
async function addMissingRateLimitHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  limiter: RateLimiter,
): Promise<void> {
  if (isUnderV1(request.url) && !reply.hasHeader('x-ratelimit-limit')) {
    setRateLimitHeaders(reply, await limiter.countAuthFailure(clientAddress(request), 0));
  }
}

/**
 * Responds to what never became a request, in its turn, and ends the connection.
 * @param failure undefined for CONNECT, which asks for no path
 */
async function endWithError(
  socket: Socket,
  failure: ProtocolFailure | undefined,
  error: PetStoreError,
  app: INestApplication,
  observer: RequestObserver,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const connection = stopReading(socket);
  if (connection === undefined) {
    return;
  }
  // Node removes its own listener when it gives a connection up.
  socket.on('error', () => undefined);
  const broken = await connection.responses();
  const isAnswered = broken?.headersSent === true;
  if (!isAnswered) {
    const [id, response] = [randomUUID(), app.get(ErrorCatalog).toResponse(error)];
    if (!CLIENT_WENT.has(failure?.code)) {
      observer.noteProtocolFailure(id, response.status, socket);
    }
    const decision =
      failure !== undefined && asksForV1(failure)
        ? await app.get(RateLimiter).countAuthFailure(socket.remoteAddress ?? '', 0)
        : undefined;
    const withBody = broken === undefined ? failure === undefined || !isHead(failure) : broken.req.method !== 'HEAD';
    writeError(
      socket,
      response,
      { 'x-request-id': id, ...headers, ...(decision && rateLimitHeaders(decision)) },
      withBody,
    );
  }
  connection.end();
}

/** RFC 9110 section 10.1.1 allows to ignore an expectation that is not known; Node would answer 417 without a body. */
function ignoreExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response);
  });
}

/** A client that has ended its side after its request still reads. */
function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}
