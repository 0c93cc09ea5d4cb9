import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTick } from 'node:timers/promises';
import { collectGarbage } from '../../../../test/support/collect-garbage';
import { queueRequests } from './request-queue';

const servers: Server[] = [];

afterEach(() => {
  servers.splice(0).forEach((server) => server.close());
});

describe('Pipelined requests', () => {
  it('start one after another, in the asynchronous contexts in which they arrived', async () => {
    const storage = new AsyncLocalStorage<string | undefined>();
    const contexts: (string | undefined)[] = [];
    let inProgress = 0;
    const queue = queueRequests((_request, response) => {
      contexts.push(storage.getStore());
      expect(++inProgress).toBe(1);
      setImmediate(() => {
        inProgress--;
        response.end();
      });
    });
    // As tracing agents do.
    const port = await listen((request, response) => {
      storage.run(request.url, () => {
        queue(request, response);
      });
    });

    const urls = ['/1', '/2', '/3', '/4'];
    const responses = await send(
      port,
      urls.map((url) => createGet(url)).join('') + createGet('/5', 'Connection: close\r\n'),
    );

    expect(responses.match(/200 OK/g)).toHaveLength(5);
    expect(contexts).toEqual([...urls, '/5']);
  });

  it('wait, up to 16 of them; with one more, the connection ends after the current response', async () => {
    const started: string[] = [];
    const port = await listen(
      queueRequests(({ url = '' }, response) => {
        started.push(url);
        setImmediate(() => response.end(url));
      }),
    );
    const urls = Array.from({ length: 17 }, (_, index) => `/${index}`);

    const all = await send(
      port,
      urls.map((url) => createGet(url, url === '/16' ? 'Connection: close\r\n' : '')).join(''),
    );
    expect(all.match(/200 OK/g)).toHaveLength(17);
    expect(started.splice(0)).toEqual(urls);

    const first = await send(port, createGet('/').repeat(18));
    expect(first.match(/200 OK/g)).toHaveLength(1);
    expect(started).toEqual(['/']);
  });
});

describe('Requests that arrive together', () => {
  it('start 16 in an event-loop tick, in the order of their arrival', async () => {
    const started: number[] = [];
    const queue = queueRequests((request) => started.push(Number(request.url)));
    const arrive = (id: number) => {
      queue({ url: String(id), socket: {} } as IncomingMessage, { on: () => undefined } as unknown as ServerResponse);
    };
    await nextTick();

    const ids = Array.from({ length: 40 }, (_, id) => id);
    ids.forEach(arrive);

    expect(started).toEqual(ids.slice(0, 16));
    await nextTick();
    expect(started).toEqual(ids.slice(0, 32));
    arrive(40);
    expect(started).toHaveLength(32);
    await nextTick();
    expect(started).toEqual([...ids, 40]);
  });
});

describe('An idle connection', () => {
  it('does not keep its last request in memory', async () => {
    const requests: WeakRef<IncomingMessage>[] = [];
    const port = await listen(
      queueRequests((request, response) => {
        requests.push(new WeakRef(request));
        response.end();
      }),
    );
    const client = connect(port, '127.0.0.1', () => client.write(createGet('/')));
    await once(client, 'data');
    await nextTick();
    collectGarbage();

    expect(requests).toHaveLength(1);
    expect(requests[0]?.deref()).toBeUndefined();
    client.destroy();
  });
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

function createGet(url: string, fields = ''): string {
  return `GET ${url} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
}

/** @returns everything received until the connection ends */
function send(port: number, bytes: string): Promise<string> {
  const client = connect(port, '127.0.0.1');
  client.write(bytes);
  return text(client);
}
