import type { IncomingMessage, Server } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Settings } from '../../../config/settings';

/** How long new requests may still arrive after the drain. */
const LAST_REQUESTS_TIMEOUT_MS = 1_000;
/** How long the replica must be without requests before the port is closed. */
const QUIET_PERIOD_MS = 100;
const POLL_INTERVAL_MS = 20;
/** Set by a gateway: the methods that it retries on another replica if it gets no response. */
const RETRIES_HEADER = 'x-gateway-retries';

/**
 * Takes this replica out of service before it stops, so that no request is lost.
 *
 * While draining, the replica only announces that it will stop: it fails its readiness probe, and every response closes its connection. A
 * gateway that checks readiness stops sending requests. A gateway that does not, and retries on other replicas instead, must notice before
 * the port is closed: closing the port makes the kernel reset the connections that have not been accepted yet, and a POST on one of them is
 * lost. In the last phase, requests that the gateway declares it retries are therefore dropped without a response, and the gateway marks
 * this replica as unavailable. All other requests are served until no more arrive.
 */
@Injectable()
export class Drain implements BeforeApplicationShutdown {
  private phase: 'serving' | 'draining' | 'ending' = 'serving';
  private lastRequestAt = 0;

  constructor(
    private readonly settings: Settings,
    private readonly host: HttpAdapterHost,
  ) {}

  get isDraining(): boolean {
    return this.phase !== 'serving';
  }

  /** Registers the hooks that drop requests and close connections while this replica drains. */
  registerHooks(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      if (this.recordRequest(request.raw)) {
        reply.hijack();
        request.raw.destroy();
        return;
      }
      done();
    });
    fastify.addHook('onSend', (_request, reply, payload, done) => {
      if (this.isDraining) {
        reply.header('connection', 'close');
      }
      done(null, payload);
    });
  }

  /** Records the arrival of a request. @returns whether the request must be dropped without a response */
  private recordRequest({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
    if (this.phase !== 'ending') {
      return false;
    }
    this.lastRequestAt = performance.now();
    const retriedMethods = String(headers[RETRIES_HEADER] ?? '').split(/\s*,\s*/);
    return retriedMethods.includes(method ?? '');
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { httpAdapter } = this.host as { readonly httpAdapter: { getHttpServer(): Server } | null };
    const server = httpAdapter?.getHttpServer();
    if (server?.listening !== true || this.settings.drainSeconds === 0) {
      return;
    }
    this.phase = 'draining';
    await sleep(this.settings.drainSeconds * 1_000);
    this.phase = 'ending';
    const startedAt = (this.lastRequestAt = performance.now());
    do {
      await sleep(POLL_INTERVAL_MS);
    } while (
      performance.now() - this.lastRequestAt < QUIET_PERIOD_MS &&
      performance.now() - startedAt < LAST_REQUESTS_TIMEOUT_MS
    );
    // The event loop has just accepted all waiting connections.
    await setImmediate();
    server.close();
  }
}
