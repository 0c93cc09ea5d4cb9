import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { limitPipelining } from './pipelining';

describe('Pipelined requests', () => {
  it('start one after another, in the asynchronous contexts in which they arrived', async () => {
    const storage = new AsyncLocalStorage<string | undefined>();
    const contexts: (string | undefined)[] = [];
    let inProgress = 0;
    const server = createServer((_request, response) => {
      contexts.push(storage.getStore());
      expect(++inProgress).toBe(1);
      setImmediate(() => {
        inProgress--;
        response.end();
      });
    });
    limitPipelining(server);
    // As tracing agents do.
    const emit = server.emit.bind(server);
    server.emit = (event: string, ...args: unknown[]) =>
      event === 'request'
        ? storage.run((args[0] as IncomingMessage).url, () => emit(event, ...args))
        : emit(event, ...args);
    await once(server.listen(0), 'listening');

    const client = connect((server.address() as AddressInfo).port);
    const urls = ['/1', '/2', '/3', '/4'];
    const requests = urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: localhost\r\n`);
    client.write(`${requests.join('\r\n')}Connection: close\r\n\r\n`);
    const responses = await text(client);
    server.close();

    expect(responses.match(/200 OK/g)).toHaveLength(4);
    expect(contexts).toEqual(urls);
  });
});
