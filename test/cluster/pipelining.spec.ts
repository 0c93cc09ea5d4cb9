import { randomInt, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type Cluster, startCluster } from './support/cluster';
import { startGateway } from './support/gateway';
import type { Server } from './support/servers';

const REQUESTS = 10_000;
const CONNECTIONS = 24;
/** As many as may be pending on a connection. */
const MAX_PIPELINED = 17;

interface Request {
  readonly id: string;
  readonly method: string;
  readonly bytes: string;
  /** What the response contains if it is successful. */
  readonly marker: string;
}

describe('Pipelined requests of mixed methods, keys, errors, pieces and cuts', () => {
  let { store, replica } = {} as Cluster;
  let gateway: Server;
  let keys: string[];

  beforeAll(async () => {
    ({ store, replica } = await startCluster({ env: { TRUST_PROXY: '1' } }));
    keys = [await store.createUnlimitedKey(), await store.createUnlimitedKey()];
    gateway = await startGateway([replica.port]);
    await store.query(
      `INSERT INTO pets (name, category_id, status) SELECT 'Rex', 1, 'sold' FROM generate_series(1, 100)`,
    );
  });

  const createRequest = (): Request => {
    const id = randomUUID();
    const pet = randomInt(1, 101);
    const body = JSON.stringify({ name: id, categoryId: 1 });
    const [method, path, content, marker] = pick<[string, string, string, string]>(
      ['GET', `/v1/pets/${pet}`, '', `{"id":${pet},`],
      ['GET', `/v1/pets?limit=1&status=sold`, '', '[{"id":1,'],
      ['HEAD', `/v1/pets/${pet}`, '', ''],
      ['POST', '/v1/pets', body, `"name":"${id}"`],
      ['POST', '/v1/pets', body.slice(1), ''],
      ['PUT', '/v1/pets', body, ''],
      ['DELETE', '/unknown', '', ''],
      ['OPTIONS', '/v1/pets', '', ''],
      ['GET', '/docs/site.css', '', 'body'],
    );
    // Failed authentications of one IP address are slowed down.
    const key = randomInt(5_000) === 0 ? 'wrong' : keys[randomInt(keys.length)];
    const fields = [
      'Host: localhost',
      `X-Request-Id: ${id}`,
      ...(randomInt(5_000) === 0 ? [] : [`Authorization: Bearer ${key}`]),
      ...(randomInt(20) === 0 ? ['Connection: Upgrade', 'Upgrade: h2c'] : []),
      ...(content === '' ? [] : ['Content-Type: application/json', `Content-Length: ${content.length}`]),
    ];
    return { id, method, marker, bytes: `${method} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${content}` };
  };

  /** Sends requests on one connection. @returns the number of responses @throws if one is for another request */
  const exchange = async (port: number): Promise<number> => {
    const requests = Array.from({ length: randomInt(1, MAX_PIPELINED + 1) }, createRequest);
    const bytes = Buffer.from(requests.map((request) => request.bytes).join(''), 'latin1');
    const socket = connect(port, '127.0.0.1').setNoDelay();
    const isCut = randomInt(10) === 0;
    let received = '';
    socket.setEncoding('latin1').on('data', (data: string) => {
      received += data;
      if (isCut || countHeads(received) === requests.length) {
        // The last response may still be arriving.
        setImmediate(() => (isCut ? socket.resetAndDestroy() : socket.end()));
      }
    });
    const closed = new Promise<void>((resolve) => {
      socket
        .on('error', () => undefined)
        .on('close', () => {
          resolve();
        });
    });
    for (let at = 0, size; at < bytes.length; at += size) {
      size = pick(bytes.length, 1_000, randomInt(1, 50));
      socket.write(bytes.subarray(at, at + size));
      await nextTick();
    }
    await closed;
    return checkResponses(received, requests);
  };

  it.each([
    ['directly', () => replica.port],
    ['through nginx', () => gateway.port],
  ])(
    'get no response for another request, %s',
    async (_, port) => {
      let answered = 0;
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => {
          while (answered < REQUESTS) {
            const responses = await exchange(port());
            answered += responses;
          }
        }),
      );
      expect(answered).toBeGreaterThanOrEqual(REQUESTS);
    },
    120_000,
  );
});

function countHeads(text: string): number {
  return text.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0;
}

function checkResponses(text: string, requests: readonly Request[]): number {
  let rest = text;
  for (const [index, { id, method, marker }] of requests.entries()) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) {
      return index;
    }
    const head = rest.slice(0, end).toLowerCase();
    const status = head.split(' ')[1] ?? '';
    const length = method === 'HEAD' || status === '204' ? 0 : Number(/content-length: (\d+)/.exec(head)?.[1]);
    const body = rest.slice(end + 4, end + 4 + length);
    const isOwn = head.startsWith('http/1.1 ') && head.includes(`x-request-id: ${id}`) && !Number.isNaN(length);
    if (!isOwn || (Number(status) < 300 && body.length === length && !body.includes(marker))) {
      throw new Error(`The response to ${method} ${id} is that of another request:\n${rest.slice(0, 500)}`);
    }
    rest = rest.slice(end + 4 + length);
  }
  if (rest !== '') {
    throw new Error(`There is more than the responses: ${rest.slice(0, 500)}`);
  }
  return requests.length;
}

function pick<T>(...values: readonly [T, ...T[]]): T {
  return values[randomInt(values.length)] ?? values[0];
}
