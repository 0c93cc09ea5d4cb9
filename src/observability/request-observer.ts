import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../shared/domain/principal';
import type { Log } from './logger';
import type { Metrics } from './metrics';

const METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
/** The routes that take what no other route does. */
const CATCH_ALL = /^(\/v1\/?)?\*?$/;
const UNMATCHED = 'unmatched';
/** As nginx writes it: the client went before it was answered. */
const CLIENT_GONE = 499;

/** What is known of a request when it has been answered; never its headers, query or body. */
interface Answered {
  readonly id: string;
  /** Undefined for bytes that never became a request. */
  readonly method?: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly principal?: Principal | undefined;
  readonly rateOutcome?: string | undefined;
  readonly traceId?: string | undefined;
  readonly fields?: object | undefined;
  readonly isProbe?: boolean | undefined;
}

/** Writes one line of the log for each request, and counts it. */
export class RequestObserver {
  private readonly log: Log;
  private readonly failures = new WeakMap<Socket, number>();

  constructor(
    log: Log,
    private readonly metrics: Metrics,
  ) {
    this.log = log.child({ event: 'request' });
  }

  /** Sees every request that comes. */
  observe(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      this.watch(request, reply);
      done();
    });
  }

  /** Takes note of a request that came, and of its end. */
  private watch(request: FastifyRequest, reply: FastifyReply): void {
    const startedAt = performance.now();
    // Unlike a hook of Fastify, it also comes when the client goes before it is answered.
    reply.raw.on('close', () => {
      this.recordEnd(request, reply, performance.now() - startedAt);
    });
  }

  /** Takes note of bytes that the HTTP layer gave up on: a request of their own, or the rest of one that came. */
  recordProtocolFailure(id: string, status: number, socket: Socket): void {
    // Node keeps the answer under way there.
    if ((socket as { _httpMessage?: unknown })._httpMessage) {
      this.failures.set(socket, status);
    } else {
      this.record({ id, route: UNMATCHED, status, durationMs: 0 });
    }
  }

  private recordEnd(request: FastifyRequest, reply: FastifyReply, durationMs: number): void {
    const { id, method, principal, rateOutcome, traceId, logFields: fields } = request;
    const { url = '', config } = request.routeOptions;
    const route = CATCH_ALL.test(url) ? UNMATCHED : url;
    const status = reply.raw.writableFinished
      ? reply.statusCode
      : (this.failures.get(request.raw.socket) ?? CLIENT_GONE);
    const { isProbe } = config;
    this.record({ id, method, route, status, durationMs, principal, rateOutcome, traceId, fields, isProbe });
    if (principal !== undefined && reply.hasHeader('deprecation')) {
      this.metrics.recordDeprecatedCall(method, route, principal.accountId);
    }
  }

  private record(answered: Answered): void {
    const { id, method, route, status, durationMs, principal, rateOutcome, traceId, fields, isProbe } = answered;
    const knownMethod = method !== undefined && METHODS.has(method) ? method : 'other';
    this.metrics.requests.observe({ method: knownMethod, route, status }, durationMs / 1_000);
    if (rateOutcome !== undefined) {
      this.metrics.rateDecisions.inc({ plan: principal?.plan ?? 'none', outcome: rateOutcome });
    }
    if (this.log.isLevelEnabled('info') && !(isProbe && status < 400)) {
      this.log.info({
        id,
        method,
        route,
        status,
        durationMs: Math.round(durationMs * 100) / 100,
        // A bigint would cost more than all the rest of the line. Ids are given out one by one: this one is exact.
        accountId: principal && Number(principal.accountId),
        key: principal?.keyFirstCharacters,
        rate: rateOutcome,
        traceId,
        fields,
      });
    }
  }
}
