import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import { RequestPacing } from './request-pacing';

describe('Requests that arrive together', () => {
  it('start in several event-loop ticks, in the order of their arrival', async () => {
    const started: IncomingMessage[] = [];
    const { arrive } = createPacedServer((request) => started.push(request));

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
    const { arrive } = createPacedServer(() => {
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

describe('Connections with a complete response', () => {
  it('continue in order, as soon as fewer than 32 requests wait', async () => {
    const { arrive, pacing } = createPacedServer(() => undefined);
    const continued: number[] = [];
    Array.from({ length: 16 + 60 }, arrive);
    expect(pacing.isBusy).toBe(true);

    const connections = Array.from({ length: 30 }, (_, id) => id);
    connections.forEach((id) => {
      pacing.continueLater(() => continued.push(id));
    });

    await nextTick();
    expect(continued).toEqual([]);
    await nextTick();
    // 60 requests waited; 32 of them have started.
    expect(continued).toEqual(connections.slice(0, 4));
    await nextTick();
    expect(continued).toEqual(connections.slice(0, 4 + 20));
    expect(pacing.isBusy).toBe(true);
    await nextTick();
    expect(continued).toEqual(connections);
    expect(pacing.isBusy).toBe(false);
  });

  it('continue even if no further request arrives', async () => {
    const { pacing } = createPacedServer(() => undefined);
    const connections = Array.from({ length: 1_000 }, () => {
      return new Promise<void>((resolve) => {
        pacing.continueLater(resolve);
      });
    });

    await expect(Promise.all(connections)).resolves.toHaveLength(1_000);
  });
});

/** @returns a function that makes a request arrive, and its pacing */
function createPacedServer(onStart: (request: IncomingMessage) => void) {
  const server = createServer(onStart);
  const pacing = new RequestPacing(server);
  const arrive = () => {
    const request = { socket: new Socket() } as IncomingMessage;
    server.emit('request', request, new ServerResponse(request));
    return request;
  };
  return { arrive, pacing };
}
