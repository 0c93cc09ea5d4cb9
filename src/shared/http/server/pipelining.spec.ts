import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import {
  Agent,
  createServer,
  get,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTick } from 'node:timers/promises';
import { collectGarbage } from '../../../../test/support/collect-garbage';
import { limitPipelining } from './pipelining';
import { RequestPacing } from './request-pacing';

const agent = new Agent({ keepAlive: true });
const servers: Server[] = [];

describe('Pipelined requests', () => {
  it('start one after another, in the asynchronous contexts in which they arrived', async () => {
    const storage = new AsyncLocalStorage<string | undefined>();
    const contexts: (string | undefined)[] = [];
    let inProgress = 0;
    const { server, port } = await startServer((_request, response) => {
      contexts.push(storage.getStore());
      expect(++inProgress).toBe(1);
      setImmediate(() => {
        inProgress--;
        response.end();
      });
    });
    // As tracing agents do.
    const emit = server.emit.bind(server);
    server.emit = (event: string, ...args: unknown[]) =>
      event === 'request'
        ? storage.run((args[0] as IncomingMessage).url, () => emit(event, ...args))
        : emit(event, ...args);

    const client = connect(port);
    const urls = ['/1', '/2', '/3', '/4'];
    const requests = urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: localhost\r\n`);
    client.write(`${requests.join('\r\n')}Connection: close\r\n\r\n`);
    const responses = await text(client);

    expect(responses.match(/200 OK/g)).toHaveLength(4);
    expect(contexts).toEqual(urls);
  });
});

describe('Hundreds of busy connections', () => {
  it('get all their responses, although few of their next requests are parsed at a time', async () => {
    const held: ServerResponse[] = [];
    const { server, port } = await startServer((request, response) => {
      if (request.url === '/0') {
        held.push(response);
        if (held.length === 300) {
          held.forEach((each) => each.end());
        }
      } else {
        response.end();
      }
    });
    // The responses to the first requests are sent together, so the second requests arrive together.
    let parsed = 0;
    let maxParsed = 0;
    server.prependListener('request', ({ url }, response) => {
      if (url !== '/0' && url !== '/1') {
        maxParsed = Math.max(maxParsed, ++parsed);
        response.on('finish', () => parsed--);
      }
    });

    await Promise.all(
      Array.from({ length: 300 }, async () => {
        for (let i = 0; i < 10; i++) {
          await fetchText(port, `/${i}`);
        }
      }),
    );

    expect(maxParsed).toBeGreaterThan(0);
    // 32 that wait, and 16 that have started.
    expect(maxParsed).toBeLessThanOrEqual(32 + 16);
  });
});

describe('An idle connection', () => {
  it('does not keep its last request in memory', async () => {
    const requests: WeakRef<IncomingMessage>[] = [];
    const { port } = await startServer((request, response) => {
      requests.push(new WeakRef(request));
      response.end();
    });

    await fetchText(port, '/');
    await nextTick();
    collectGarbage();

    expect(requests).toHaveLength(1);
    expect(requests[0]?.deref()).toBeUndefined();
  });
});

afterEach(() => {
  agent.destroy();
  servers.splice(0).forEach((server) => server.close());
});

async function startServer(handle: RequestListener) {
  const server = createServer(handle);
  limitPipelining(server, new RequestPacing(server));
  servers.push(server);
  await once(server.listen(0), 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function fetchText(port: number, path: string): Promise<string> {
  const [response] = (await once(get({ port, path, agent }), 'response')) as [IncomingMessage];
  return text(response);
}
