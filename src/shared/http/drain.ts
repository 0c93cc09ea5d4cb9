import { type Server as HttpServer } from 'node:http';
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Settings } from '../../config/settings';

/** How long connections that a gateway keeps open may still be used after no new ones are taken. */
const LINGER_MS = 1_000;
const POLL_MS = 20;

/**
 * Takes this replica out of service before it stops, so that no request is lost: first it only says so (it is not ready,
 * and every answer asks to close the connection), then it takes no new connections, and last it lets go of idle ones.
 */
@Injectable()
export class Drain implements BeforeApplicationShutdown {
  private draining = false;

  constructor(
    private readonly settings: Settings,
    private readonly host: HttpAdapterHost,
  ) {}

  get isDraining(): boolean {
    return this.draining;
  }

  async beforeApplicationShutdown(): Promise<void> {
    const server = this.host.httpAdapter.getHttpServer() as HttpServer;
    if (!server.listening || this.settings.drainSeconds === 0) {
      return;
    }
    this.draining = true;
    await sleep(this.settings.drainSeconds * 1_000);
    // The HTTP server's own close would also drop idle connections, on which a gateway may just be sending.
    Server.prototype.close.call(server);
    for (let waited = 0; waited < LINGER_MS && (await connectionsOf(server)) > 0; waited += POLL_MS) {
      await sleep(POLL_MS);
    }
  }
}

function connectionsOf(server: HttpServer): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error) {
        reject(error);
      } else {
        resolve(count);
      }
    });
  });
}
