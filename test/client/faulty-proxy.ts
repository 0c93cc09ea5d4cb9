import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
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

/** An HTTP proxy in front of the service that makes requests fail. */
export class FaultyProxy {
  readonly requests: {
    readonly url: string | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly at: number;
  }[] = [];
  private faults: Fault[] = [];
  private laterFault: Fault = 'none';
  private announce: () => void = () => undefined;
  private readonly server = createServer((incoming, outgoing) => {
    this.handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });

  private constructor(private readonly target: number) {}

  static async start(target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await once(proxy.server.listen(0, '127.0.0.1'), 'listening');
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
    await once(this.server.close(), 'close');
  }

  private async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, url, headers, socket } = incoming;
    const body = await buffer(incoming);
    this.requests.push({ url, headers, at: Date.now() });
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
    const forwarded = request({ port: this.target, host: '127.0.0.1', method, path: url, headers }).end(body);
    const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
    const received = await buffer(response);
    if (typeof fault === 'object') {
      respond(outgoing, fault.after);
    } else if (fault === 'reset after') {
      socket.resetAndDestroy();
    } else if (fault !== 'no response') {
      outgoing.writeHead(response.statusCode ?? 0, response.headers);
      if (fault === 'none') {
        outgoing.end(received);
      } else {
        outgoing.write(received.subarray(0, 5), () => socket.resetAndDestroy());
      }
    }
  }
}

function respond(outgoing: ServerResponse, { status, headers, body = '' }: Failure): void {
  outgoing.writeHead(status, headers).end(body);
}
