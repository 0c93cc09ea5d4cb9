import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Settings } from '../../../config/settings';

/** How long requests may still come after the drain, and how long none must have come for the port to be closed. */
const LAST_REQUESTS_MS = 1_000;
const QUIET_MS = 100;
const POLL_MS = 20;
/** With it a gateway names the methods that it repeats on another replica when one gives no answer. */
const RETRIES_HEADER = 'x-gateway-retries';

/**
 * Takes this replica out of service before it stops, so that no request is lost.
 *
 * First it only says so: it is not ready, and every answer asks to close the connection. A gateway that asks for
 * readiness sends no more. One that repeats requests elsewhere instead must notice before the port is closed, as the kernel
 * resets connections that wait to be accepted then, and a POST on them is lost. So, last, requests that it says it repeats are
 * turned away without an answer, and it takes this replica for gone. All others are served until none comes any more.
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

  /** Sees every request that comes. */
  observe(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      if (this.turnsAway(request.raw)) {
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

  /** Whether a request that just came is to be left without an answer. */
  private turnsAway({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
    if (this.phase !== 'ending') {
      return false;
    }
    this.lastRequestAt = performance.now();
    const retried = String(headers[RETRIES_HEADER] ?? '').split(/\s*,\s*/);
    return retried.includes(method ?? '');
  }

  async beforeApplicationShutdown(): Promise<void> {
    const server = this.host.httpAdapter.getHttpServer() as HttpServer;
    if (!server.listening || this.settings.drainSeconds === 0) {
      return;
    }
    this.phase = 'draining';
    await sleep(this.settings.drainSeconds * 1_000);
    this.phase = 'ending';
    const startedAt = (this.lastRequestAt = performance.now());
    do {
      await sleep(POLL_MS);
    } while (performance.now() - this.lastRequestAt < QUIET_MS && performance.now() - startedAt < LAST_REQUESTS_MS);
    // Right after the event loop has accepted what was waiting; connections that are open stay so.
    await nextTurn();
    Server.prototype.close.call(server);
  }
}
