import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IDENTIFIER } from '../config/brand';
import { getArrivalTime } from '../shared/http/server/request-queue';
import type { LogEvent } from '../shared/log-events';
import type { Principal } from '../shared/domain/principal';
import type { Log } from './logger';
import type { Metrics } from './metrics';

const METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
const UNMATCHED = 'unmatched';
/** As in nginx: the client closed the connection before the response. */
const CLIENT_CLOSED_REQUEST = 499;

/** A finished request as logged; never its headers, query or body. */
interface FinishedRequest {
  readonly id: string;
  /** undefined for input that is not a valid HTTP request. */
  readonly method?: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly principal?: Principal | undefined;
  readonly rateLimitOutcome?: string | undefined;
  readonly traceId?: string | undefined;
  readonly fields?: object | undefined;
  readonly isProbe?: boolean | undefined;
}

/** Writes one log line for each request, and counts it. */
export class RequestObserver {
  private readonly protocolErrors = new WeakMap<Socket, number>();

  constructor(
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Records a request when it ends.
   * @returns false for a request whose client has disconnected, which must be dropped
   */
  observe(request: FastifyRequest, reply: FastifyReply): boolean {
    const arrivedAt = getArrivalTime(request.raw);
    const recordEnd = () => {
      this.recordEnd(request, reply, performance.now() - arrivedAt);
    };
    // While a replica is busy, the client may disconnect before its request starts (see request-queue.ts).
    if (request.raw.socket.destroyed) {
      recordEnd();
      reply.hijack();
      return false;
    }
    // Unlike Fastify's hooks, this event also occurs if the client disconnects before the response.
    reply.raw.on('close', recordEnd);
    return true;
  }

  /**
   * Records input that the HTTP layer rejected.
   * @param socket the connection, if the input is the rest of the request in progress
   */
  recordProtocolError(id: string, status: number, socket?: Socket): void {
    if (socket === undefined) {
      this.record({ id, route: UNMATCHED, status, durationMs: 0 });
    } else {
      this.protocolErrors.set(socket, status);
    }
  }

  private recordEnd(request: FastifyRequest, reply: FastifyReply, durationMs: number): void {
    const { id, method, principal, rateLimitOutcome, traceId, logFields: fields } = request;
    const { url = '', config } = request.routeOptions;
    const { isProbe, isCatchAll } = config;
    const route = isCatchAll || url === '' || url === '*' ? UNMATCHED : url;
    const status = reply.raw.writableFinished
      ? reply.statusCode
      : (this.protocolErrors.get(request.raw.socket) ?? CLIENT_CLOSED_REQUEST);
    this.record({ id, method, route, status, durationMs, principal, rateLimitOutcome, traceId, fields, isProbe });
    if (principal !== undefined && reply.hasHeader('deprecation')) {
      this.metrics.recordDeprecatedCall(method, route, principal.accountId);
    }
  }

  private record(finished: FinishedRequest): void {
    const { id, method, route, status, durationMs, principal, rateLimitOutcome, traceId, fields, isProbe } = finished;
    const knownMethod = method !== undefined && METHODS.has(method) ? method : 'other';
    this.metrics.requests.observe({ method: knownMethod, route, status }, durationMs / 1_000);
    if (rateLimitOutcome !== undefined) {
      this.metrics.rateLimitDecisions.inc({ plan: principal?.plan ?? 'none', outcome: rateLimitOutcome });
    }
    if (this.log.isLevelEnabled('info') && !(isProbe && status < 400)) {
      this.log.info(
        {
          'event.action': 'request' satisfies LogEvent,
          'http.request.id': id,
          'http.request.method': method,
          'http.route': route,
          'http.response.status_code': status,
          'event.duration': Math.round(durationMs * 100) * 10_000,
          'trace.id': traceId,
          [IDENTIFIER]: {
            ...fields,
            // A bigint would cost more than the rest of the line. IDs are assigned sequentially, so this one is exact.
            accountId: principal && Number(principal.accountId),
            keyStart: principal?.keyStart,
            rateLimitOutcome,
          },
        },
        `${knownMethod} ${route} ${status}`,
      );
    }
  }
}
