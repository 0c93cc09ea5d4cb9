import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTick } from 'node:timers/promises';
import { queueRequests } from './request-queue';

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
    const server = createServer((request, response) => {
      storage.run(request.url, () => {
        queue(request, response);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');

    const urls = ['/1', '/2', '/3', '/4', '/5'];
    const heads = urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: localhost\r\n`);
    client.write(`${heads.join('\r\n')}Connection: close\r\n\r\n`);

    expect((await text(client)).match(/200 OK/g)).toHaveLength(5);
    expect(contexts).toEqual(urls);
    server.close();
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
