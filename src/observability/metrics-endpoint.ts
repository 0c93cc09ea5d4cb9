import { createServer, type Server } from 'node:http';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { Settings } from '../config/settings';
import { Metrics } from './metrics';

const PATH = '/metrics';

/** Serves the metrics without a key: on a separate port if one is set, otherwise on the port of the API. */
@Injectable()
export class MetricsEndpoint implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    private readonly metrics: Metrics,
    private readonly settings: Settings,
  ) {}

  serveOn(fastify: FastifyInstance): void {
    if (this.settings.metricsPort === undefined) {
      fastify.get(PATH, async (_request, reply) =>
        reply.type(this.metrics.contentType).send(await this.metrics.render()),
      );
    }
  }

  async onApplicationBootstrap(): Promise<void> {
    const { metricsPort, host } = this.settings;
    if (metricsPort === undefined) {
      return;
    }
    const server = createServer((request, response) => {
      if (request.url?.split('?', 1)[0] !== PATH || request.method !== 'GET') {
        response.writeHead(404).end();
        return;
      }
      this.metrics.render().then(
        (text) => response.setHeader('content-type', this.metrics.contentType).end(text),
        () => response.writeHead(500).end(),
      );
    });
    this.server = server;
    await new Promise<void>((listening, failed) => {
      server.once('error', failed).listen(metricsPort, host, listening);
    });
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}
