import { type Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Settings } from '../../config/settings';

/** How long requests are turned away at most, and how long none must have come for the port to be closed. */
const TURN_AWAY_MS = 1_000;
const QUIET_MS = 100;
const POLL_MS = 20;

/**
 * Takes this replica out of service before it stops, so that no request is lost.
 *
 * First it only says so: it is not ready, and every answer asks to close the connection. A gateway that asks for
 * readiness sends no more. One that does not must notice before the port is closed, as the kernel resets connections
 * that wait to be accepted then, and a POST on them is lost. So, last, safe requests are turned away without an answer:
 * a gateway repeats these elsewhere, and takes this replica for gone.
 */
@Injectable()
export class Drain implements BeforeApplicationShutdown {
  private phase: 'serving' | 'draining' | 'turning away' = 'serving';
  private lastRequestAt = 0;

  constructor(
    private readonly settings: Settings,
    private readonly host: HttpAdapterHost,
  ) {}

  get isDraining(): boolean {
    return this.phase !== 'serving';
  }

  /** Whether a request that just came is to be left without an answer. */
  turnsAway(method: string): boolean {
    if (this.phase !== 'turning away') {
      return false;
    }
    this.lastRequestAt = performance.now();
    return method === 'GET' || method === 'HEAD';
  }

  async beforeApplicationShutdown(): Promise<void> {
    const server = this.host.httpAdapter.getHttpServer() as HttpServer;
    if (!server.listening || this.settings.drainSeconds === 0) {
      return;
    }
    this.phase = 'draining';
    await sleep(this.settings.drainSeconds * 1_000);
    this.phase = 'turning away';
    const startedAt = (this.lastRequestAt = performance.now());
    do {
      await sleep(POLL_MS);
    } while (performance.now() - this.lastRequestAt < QUIET_MS && performance.now() - startedAt < TURN_AWAY_MS);
    // Right after the event loop has accepted what was waiting; connections that are open stay so.
    await nextTurn();
    Server.prototype.close.call(server);
  }
}
