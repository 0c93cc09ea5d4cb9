import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A fault of one request. It happens before the request reaches the service, or after the service has responded. */
export type Fault =
  | 'none'
  | 'reset before'
  | 'reset after'
  | 'reset during the body'
  | 'no response'
  | { readonly before: Failure }
  | { readonly after: Failure };

/** A response that replaces the one of the service. */
export interface Failure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly at: number;
}

/** An HTTP proxy in front of the service that makes requests fail. */
export class FaultyProxy {
  readonly requests: Received[] = [];
  private readonly server: Server;
  private faults: Fault[] = [];
  private laterFault: Fault = 'none';
  private announce: () => void = () => undefined;

  private constructor(private readonly target: number) {
    this.server = createServer((incoming, outgoing) => {
      this.handle(incoming, outgoing).catch(() => incoming.socket.destroy());
    });
  }

  static async start(target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>((listening) => proxy.server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Sets the faults of the next requests, and the fault of all later ones. */
  break(faults: readonly Fault[], later: Fault = 'none'): void {
    this.faults = [...faults];
    this.laterFault = later;
    this.requests.length = 0;
  }

  /** Waits for the next request. */
  waitForRequest(): Promise<void> {
    return new Promise((resolve) => (this.announce = resolve));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, url, headers, socket } = incoming;
    const body = await buffer(incoming);
    this.requests.push({ method, url, headers, at: Date.now() });
    this.announce();
    const fault = this.faults.shift() ?? this.laterFault;
    if (fault === 'reset before') {
      socket.resetAndDestroy();
      return;
    }
    if (typeof fault === 'object' && 'before' in fault) {
      respond(outgoing, fault.before);
      return;
    }
    const response = await this.forward(incoming, body);
    if (typeof fault === 'object') {
      respond(outgoing, fault.after);
      return;
    }
    switch (fault) {
      case 'none':
        outgoing.writeHead(response.status, response.headers).end(response.body);
        return;
      case 'reset after':
        socket.resetAndDestroy();
        return;
      case 'reset during the body':
        outgoing.writeHead(response.status, response.headers);
        outgoing.write(response.body.subarray(0, 5), () => socket.resetAndDestroy());
        return;
      case 'no response':
    }
  }

  private forward({ method, url, headers }: IncomingMessage, body: Buffer) {
    return new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      request({ port: this.target, host: '127.0.0.1', method, path: url, headers }, (response) => {
        const { statusCode = 0, headers } = response;
        buffer(response).then((received) => {
          resolve({ status: statusCode, headers, body: received });
        }, reject);
      })
        .on('error', reject)
        .end(body);
    });
  }
}

function respond(outgoing: ServerResponse, { status, headers, body = '' }: Failure): void {
  outgoing.writeHead(status, headers).end(body);
}
