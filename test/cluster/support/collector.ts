import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '../../support/process';

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
  url = '';

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      void json(request).then((body) => {
        this.received += JSON.stringify([request.url, request.headers, body]);
        const { resourceSpans } = body as Export;
        this.spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    this.url = `http://127.0.0.1:${await listen(server)}`;
  }
}
