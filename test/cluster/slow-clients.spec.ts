import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { listStatuses, Client, runConcurrently, computeP99, type Reply } from './support/client';
import { startCluster } from './support/cluster';
import { startGateway } from './support/gateway';
import { eventually, Replica } from './support/replica';
import type { Server } from './support/servers';

/** The timeouts for headers, requests and unread responses, with some tolerance. */
const HEADERS_TIMEOUT_MS = 7_000;
const REQUEST_TIMEOUT_MS = 12_000;
const UNREAD_RESPONSE_TIMEOUT_MS = 52_000;
const MAX_RESIDENT_MIB = 300;
/** As in docker/Dockerfile. */
const IMAGE_OPTIONS = ['--max-semi-space-size=16', '--heap-growing-percent=20', '--no-allocation-site-pretenuring'];

describe('Clients', () => {
  let replica: Replica;
  let gateway: Server;
  let key: string;

  beforeAll(async () => {
    const { env, store } = await startCluster({ replicas: 0, env: { TRUST_PROXY: '1' } });
    replica = await Replica.start(env, undefined, IMAGE_OPTIONS);
    gateway = await startGateway([replica.port]);
    key = await store.createUnlimitedKey();
    // More than the buffers of the kernel hold.
    const request = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(17);
    const startedAt = performance.now();
    while (unread.length < 20) {
      const socket = connect(replica.port, '127.0.0.1', () => socket.write(request)).pause();
      // A socket that does not read notices only when it writes that its connection was reset.
      const timer = setInterval(() => socket.write('G'), 2_000);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          clearInterval(timer);
          unreadMs.push(performance.now() - startedAt);
        });
      unread.push(socket);
    }
  });

  // Opened before the first test and checked by the last, because it takes so long.
  const unread: Socket[] = [];
  const unreadMs: number[] = [];

  let flood: Socket[] = [];
  afterEach(() => {
    flood.splice(0).forEach((socket) => socket.destroy());
  });

  /** Opens a connection and sends only these bytes. */
  const sendOnly = (bytes: string) => {
    const connection = { socket: undefined as Socket | undefined, received: '', isClosed: false };
    connection.socket = connect(replica.port, '127.0.0.1', () => connection.socket?.write(bytes));
    connection.socket.on('data', (data) => (connection.received += data.toString()));
    connection.socket.on('error', () => undefined);
    connection.socket.on('close', () => (connection.isClosed = true));
    return connection;
  };

  it('that send nothing or only part of a request get a 408, and a thousand of them do not slow down others', async () => {
    const client = new Client(key);
    await runConcurrently(10, 300, () => client.call(replica.port));
    const baselineP99Ms = computeP99(await runConcurrently(10, 500, () => client.call(replica.port)));
    const idle = Array.from({ length: 500 }, () => sendOnly(''));
    const headers = Array.from({ length: 500 }, () => sendOnly('GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthor'));
    const request = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const bodies = Array.from({ length: 5 }, () => sendOnly(`${request}Content-Length: 30\r\n\r\n{"name":`));
    await eventually(5_000, () => [...idle, ...headers].every(({ socket }) => socket?.connecting === false));
    const replies = await runConcurrently(10, 500, () => client.call(replica.port));
    expect(listStatuses(replies)).toEqual([200]);
    expect(computeP99(replies)).toBeLessThan(Math.max(100, 3 * baselineP99Ms));

    await eventually(HEADERS_TIMEOUT_MS, () => [...idle, ...headers].every(({ isClosed }) => isClosed));
    expect(new Set(headers.map(({ received }) => received.split('\r\n', 1)[0]))).toEqual(
      new Set(['HTTP/1.1 408 Request Timeout']),
    );
    expect(headers[0]?.received).toContain(
      '{"code":"request_timeout","message":"The request did not arrive in time.","status":408}',
    );
    await eventually(REQUEST_TIMEOUT_MS, () => bodies.every(({ isClosed }) => isClosed));
    expect(new Set(bodies.map(({ received }) => /"code":"\w+"/.exec(received)?.[0]))).toEqual(
      new Set(['"code":"request_timeout"']),
    );
  });

  it('that open a thousand connections concurrently are all accepted, even while the replica is busy', async () => {
    process.kill(replica.program.pid, 'SIGSTOP');
    const connections = Array.from({ length: 1_000 }, () => sendOnly(''));
    await eventually(900, () => connections.every(({ socket }) => socket?.connecting === false)).finally(() => {
      process.kill(replica.program.pid, 'SIGCONT');
      connections.forEach(({ socket }) => socket?.destroy());
    });
  });

  it('that a suspended replica could not read in time are asked to retry: the delay is not theirs', async () => {
    const connections = Array.from({ length: 20 }, () => sendOnly('GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthor'));
    await eventually(900, () => connections.every(({ socket }) => socket?.connecting === false));
    // The replica has read the first part.
    await new Client(key).call(replica.port);
    const suspendedAt = performance.now();
    process.kill(replica.program.pid, 'SIGSTOP');
    connections.forEach(({ socket }) => socket?.write(`ization: Bearer ${key}\r\nConnection: close\r\n\r\n`));
    await eventually(10_000, () => performance.now() - suspendedAt > 6_000);
    process.kill(replica.program.pid, 'SIGCONT');
    await eventually(5_000, () => connections.every(({ isClosed }) => isClosed));
    const statuses = connections.map(({ received }) => Number(received.slice(9, 12)));
    expect([200, 503]).toEqual(expect.arrayContaining([...new Set(statuses)]));
    connections.forEach(({ received }, index) => {
      expect(/^retry-after: 1\r$/im.test(received)).toBe(statuses[index] === 503);
    });
  });

  it('that send bodies slowly on 9,500 connections from one IP address do not block others at the gateway', async () => {
    const createPost = (fields: string) =>
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}Content-Type: application/json\r\nContent-Length: 30\r\n\r\n{`;
    const withKey = `Authorization: Bearer ${key}\r\n`;
    const openSlowConnections = async (count: number, localAddress: string, ...requests: readonly string[]) => {
      const connections: { received: string; isClosed: boolean }[] = [];
      while (connections.length < count) {
        const batch = Array.from({ length: Math.min(100, count - connections.length) }, (_, index) => {
          const connection = { received: '', isClosed: false };
          connections.push(connection);
          const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress });
          flood.push(socket);
          let timer: NodeJS.Timeout;
          socket.on('data', (data) => (connection.received += data.toString()));
          socket.on('error', () => undefined);
          socket.on('close', () => {
            clearInterval(timer);
            connection.isClosed = true;
          });
          return new Promise<void>((sent) => {
            socket.once('connect', () => {
              socket.write(requests[index % requests.length] ?? '');
              timer = setInterval(() => socket.write(' '), 4_000);
              sent();
            });
          });
        });
        // Send these requests before opening more connections, or nginx may time out clients that are still waiting to send headers.
        await Promise.all(batch);
      }
      return connections;
    };
    const collectStatuses = (connections: readonly { received: string }[]) =>
      new Set(connections.map(({ received }) => received.split('\r\n', 1)[0]));

    const [keyed, repeatable] = [createPost(withKey), createPost(`${withKey}Idempotency-Key: slow\r\n`)];
    const few = await openSlowConnections(40, '127.0.0.3', keyed, repeatable);
    const many = await openSlowConnections(9_500, '127.0.0.2', keyed, createPost(''), repeatable);
    const client = new Client(key);
    const replies: Reply[] = [];
    await eventually(REQUEST_TIMEOUT_MS + 15_000, async () => {
      replies.push(...(await runConcurrently(4, 20, () => client.call(gateway.port))));
      return [...few, ...many].every(({ isClosed }) => isClosed);
    });
    expect(listStatuses(replies)).toEqual([200]);
    expect(collectStatuses(few)).toEqual(new Set(['HTTP/1.1 408 Request Timeout']));
    expect(few.every(({ received }) => received.includes('"code":"request_timeout"'))).toBe(true);
    const cutOff = many.filter(({ received }) => received.startsWith('HTTP/1.1 408'));
    expect(cutOff.length).toBeGreaterThan(0);
    expect(cutOff.length).toBeLessThanOrEqual(100);
    expect(many.find(({ received }) => received.includes(' 503 '))?.received).toContain(
      '{"code":"service_unavailable","message":"This IP address has too many requests in progress.',
    );
  }, 60_000);

  const getResidentMib = async () => {
    const status = await readFile(`/proc/${replica.program.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  };

  // Node parses 64 KB of each new connection at once.
  it.each([
    [5, 'that read the responses', 'directly', 100, () => replica.port],
    [60, 'that read the responses', 'directly', 400, () => replica.port],
    [60, 'that read no responses', 'directly', 400, () => replica.port],
    [60, 'that reconnect after the first response', 'directly', 400, () => replica.port],
    [5, 'that read the responses', 'through the gateway', 100, () => gateway.port],
    [60, 'that read the responses', 'through the gateway', 100, () => gateway.port],
  ])(
    'cannot slow down others or exhaust memory with %i connections %s and pipeline 20,000 requests each, %s',
    async (connections, reading, _path, maxP99Ms, port) => {
      const client = new Client(key);
      await runConcurrently(4, 100, () => client.call(port()));
      const baselineP99Ms = computeP99(await runConcurrently(4, 200, () => client.call(port())));
      const requests = Buffer.from(
        `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Padding: ${'a'.repeat(150)}\r\n\r\n`.repeat(20_000),
      );
      let received = 0;
      const open = (): Socket => {
        const socket = connect(port(), '127.0.0.1', () => socket.write(requests));
        socket.on('error', () => undefined);
        if (reading === 'that read no responses') {
          return socket.pause();
        }
        return socket.on('data', ({ length }: Buffer) => {
          received += length;
          if (reading === 'that reconnect after the first response' && flood.includes(socket)) {
            flood.splice(flood.indexOf(socket), 1, open());
            socket.destroy();
          }
        });
      };
      flood = Array.from({ length: connections }, open);
      await eventually(5_000, () => flood.every(({ bytesWritten }) => bytesWritten > 0));
      const sizes: number[] = [];
      const replies = await runConcurrently(4, 400, async (index) => {
        if (index % 20 === 0) {
          sizes.push(await getResidentMib());
        }
        return client.call(port());
      });
      flood.splice(0).forEach((socket) => socket.destroy());
      expect(listStatuses(replies)).toEqual([200]);
      expect(computeP99(replies)).toBeLessThan(Math.max(maxP99Ms, 3 * baselineP99Ms));
      expect(Math.max(...sizes)).toBeLessThan(MAX_RESIDENT_MIB);
      expect(received > 0).toBe(reading !== 'that read no responses');
    },
    60_000,
  );

  it('that do not read a response lose their connections after 30 s, and no earlier', async () => {
    await eventually(UNREAD_RESPONSE_TIMEOUT_MS, () => unreadMs.length === unread.length);
    expect(Math.min(...unreadMs)).toBeGreaterThan(30_000);
    expect(Math.max(...unreadMs)).toBeLessThan(UNREAD_RESPONSE_TIMEOUT_MS);
  });
});
