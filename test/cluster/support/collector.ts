import { createServer, type Server as HttpServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { findFreePort } from '../../support/process';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}
interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** An OTLP collector that records the spans it receives. */
export class Collector {
  readonly spans: Span[] = [];
  received = '';
  private server: HttpServer | undefined;
  url = '';

  async start(): Promise<void> {
    const port = await findFreePort();
    this.url = `http://127.0.0.1:${port}`;
    const server = createServer((request, response) => {
      void json(request).then((body) => {
        this.received += JSON.stringify([request.url, request.headers, body]);
        const { resourceSpans } = body as Export;
        this.spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    this.server = server;
    await new Promise<void>((listening) => server.listen(Number(port), '127.0.0.1', listening));
  }

  stop(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}
