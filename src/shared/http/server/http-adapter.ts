import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, METHODS, type RequestListener, type Server } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { KEY_PREFIX_PATTERN } from '../../../config/brand';
import type { Settings } from '../../../config/settings';
import { getSharedItems } from '../../domain/page';
import { stringifyJson } from '../../json/json';
import { normalizeForwardedFor } from '../access/client-ip';
import { deferBodyParsing } from './request-body';
import { giveUpUnreadResponses, queueRequests } from './request-queue';
import { ignoreUpgrades, isUpgrade } from './upgrade';
import { MAX_URL_LENGTH, rewriteUrl } from '../access/url-check';

/** A request ID from a gateway is used if it is short, harmless in a log line, and not a misplaced API key. */
const SAFE_REQUEST_ID = new RegExp(`^(?!.*${KEY_PREFIX_PATTERN})[A-Za-z0-9._~+/=:-]{1,128}$`);
/** Timeouts for receiving the header fields, and the whole request. */
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the gateways' own timeouts, so that they close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** Creates the HTTP server, with everything that a request passes before it reaches a module. */
export function createHttpAdapter({ trustProxy }: Pick<Settings, 'trustProxy'>): FastifyAdapter {
  const adapter = new FastifyAdapter({
    trustProxy: createTrustProxyOption(trustProxy),
    genReqId: generateRequestId,
    rewriteUrl,
    serverFactory: createHttpServer,
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    return503OnClosing: false,
    // See respondToProtocolErrors.
    clientErrorHandler: () => undefined,
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  fastify.decorate('apiVersions', new Set(['1']));
  for (const property of ['principal', 'rateLimitOutcome', 'traceId', 'logFields']) {
    fastify.decorateRequest(property, undefined);
  }
  fastify.setReplySerializer(serialize);
  // Nest registers its own parsers once: now, so that the next line can remove them.
  adapter.registerParserMiddleware();
  if (trustProxy !== false) {
    normalizeForwardedFor(fastify);
  }
  deferBodyParsing(fastify);
  acceptAllMethods(fastify);
  return adapter;
}

function serialize(payload: unknown): string {
  const shared = getSharedItems(payload);
  return shared?.share(serialize, () => stringifyJson(shared.create())) ?? stringifyJson(payload);
}

/** With n gateways in front of the service, the n nearest IP addresses are theirs; hop 0 is the direct peer. */
function createTrustProxyOption(trustProxy: Settings['trustProxy']) {
  return typeof trustProxy === 'number' ? (_address: string, hop: number) => hop < trustProxy : trustProxy;
}

function generateRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const clientRequestId = headers['x-request-id'];
  return typeof clientRequestId === 'string' && SAFE_REQUEST_ID.test(clientRequestId) ? clientRequestId : randomUUID();
}

/** Lets requests of every method that Node.js parses reach the guards, also of those that Fastify does not know. */
function acceptAllMethods(fastify: FastifyInstance): void {
  METHODS.filter((method) => !fastify.supportedMethods.includes(method)).forEach((method) => {
    fastify.addHttpMethod(method, { hasBody: true });
  });
}

function createHttpServer(listener: RequestListener): Server {
  const server: Server = createServer(
    {
      // Otherwise, Node itself would respond to requests that lack Host, and without an Error body (see url-check.ts).
      requireHostHeader: false,
      joinDuplicateHeaders: true,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Not in the types of Node.js 20.
      ...{ shouldUpgradeCallback: (request: IncomingMessage) => isUpgrade(server, request) },
    },
    queueRequests(listener),
  );
  // Otherwise, Node would drop the header fields after the first 1,000, such as a second Host. Their size is limited.
  server.maxHeadersCount = 0;
  giveUpUnreadResponses(server);
  // RFC 9110 section 10.1.1 allows ignoring an unknown expectation; Node would respond with 417 without a body.
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response);
  });
  ignoreUpgrades(server);
  // A client that closes its side after sending its request can still read the response.
  return Object.assign(server, { httpAllowHalfOpen: true });
}
