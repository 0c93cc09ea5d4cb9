import { connect, type Socket } from 'node:net';
import { Client, concurrently, p99 } from './support/client';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

/** The times after which the service gives a client up (app.setup.ts), and a little more. */
const HEADERS_LIMIT_MS = 7_000;
const REQUEST_LIMIT_MS = 12_000;

describe('Clients that send slowly, or nothing', () => {
  let postgres: Server;
  let store: Store;
  let replica: Replica;
  let key: string;

  beforeAll(async () => {
    postgres = await Server.postgres();
    store = await Store.open(postgres.url);
    replica = await Replica.start({ DATABASE_URL: postgres.url });
    key = await store.createUnlimitedKey();
  });
  afterAll(async () => {
    await replica.program.kill('SIGKILL');
    await store.close();
    await postgres.remove();
  });

  /** A connection on which this is sent and nothing more. */
  const half = (bytes: string) => {
    const connection = { socket: undefined as Socket | undefined, received: '', isClosed: false };
    connection.socket = connect(replica.port, '127.0.0.1', () => connection.socket?.write(bytes));
    connection.socket.on('data', (data) => (connection.received += data.toString()));
    connection.socket.on('error', () => undefined);
    connection.socket.on('close', () => (connection.isClosed = true));
    return connection;
  };

  it('are cut off with 408, and a thousand of them slow nobody else', async () => {
    const client = new Client(key);
    await concurrently(10, 300, () => client.call(replica.port));
    const alone = p99(await concurrently(10, 500, () => client.call(replica.port)));
    const idle = Array.from({ length: 500 }, () => half(''));
    const headers = Array.from({ length: 500 }, () => half('GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthor'));
    const request = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const bodies = Array.from({ length: 5 }, () => half(`${request}Content-Length: 30\r\n\r\n{"name":`));
    await eventually(5_000, () => [...idle, ...headers].every(({ socket }) => socket?.connecting === false));
    const replies = await concurrently(10, 500, () => client.call(replica.port));
    client.close();
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(p99(replies)).toBeLessThan(Math.max(100, 3 * alone));

    await eventually(HEADERS_LIMIT_MS, () => [...idle, ...headers].every(({ isClosed }) => isClosed));
    expect(new Set(headers.map(({ received }) => received.split('\r\n', 1)[0]))).toEqual(
      new Set(['HTTP/1.1 408 Request Timeout']),
    );
    expect(headers[0]?.received).toContain(
      '{"code":"request_timeout","message":"The request did not arrive in time.","status":408}',
    );
    await eventually(REQUEST_LIMIT_MS, () => bodies.every(({ isClosed }) => isClosed));
    expect(new Set(bodies.map(({ received }) => /"code":"\w+"/.exec(received)?.[0]))).toEqual(
      new Set(['"code":"request_timeout"']),
    );
  });
});
