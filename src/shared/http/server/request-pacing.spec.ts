import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import { paceRequests } from './request-pacing';

describe('Requests that arrive together', () => {
  it('start in several event-loop ticks, in the order of their arrival', async () => {
    const started: IncomingMessage[] = [];
    const arrive = createPacedServer((request) => started.push(request));

    const requests = Array.from({ length: 40 }, arrive);

    expect(started).toEqual(requests.slice(0, 16));
    await nextTick();
    expect(started).toEqual(requests.slice(0, 32));
    const lastRequest = arrive();
    expect(started).toHaveLength(32);
    await nextTick();
    expect(started).toEqual([...requests, lastRequest]);
  });

  it('start in the asynchronous contexts in which they arrived', async () => {
    const storage = new AsyncLocalStorage<number>();
    const contexts: (number | undefined)[] = [];
    const arrive = createPacedServer(() => {
      contexts.push(storage.getStore());
      storage.enterWith(-1);
    });

    const ids = Array.from({ length: 40 }, (_, id) => id);
    ids.forEach((id) => storage.run(id, arrive));
    await nextTick();
    await nextTick();

    expect(contexts).toEqual(ids);
  });
});

/** @returns a function that makes a request arrive */
function createPacedServer(onStart: (request: IncomingMessage) => void) {
  const server = createServer(onStart);
  paceRequests(server);
  return () => {
    const request = { socket: new Socket() } as IncomingMessage;
    server.emit('request', request, new ServerResponse(request));
    return request;
  };
}
