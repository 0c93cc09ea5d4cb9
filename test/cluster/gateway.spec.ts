import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent, createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { ERROR_CATALOG } from '../../src/error-catalog';
import type { ErrorCode } from '../../src/shared/domain/error-codes';
import { findFreePort, listen, parseLog } from '../support/process';
import { sendRaw } from '../support/raw';
import { type Reply, sendRequest } from './support/client';
import { startClusterWithRedis } from './support/cluster';
import { startGateway } from './support/gateway';
import { eventually } from './support/replica';

type HttpResponse = Pick<Reply, 'status' | 'headers' | 'body'>;

const call = (port: number, path: string, options: Parameters<typeof sendRequest>[1] = {}) =>
  sendRequest(port, { path, ...options });

/** Sends bytes that no HTTP client would send. */
async function sendBytes(port: number, bytes: string): Promise<HttpResponse> {
  const [head = '', body = ''] = (await sendRaw(port, bytes)).split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(': ');
      return [name.toLowerCase(), value.join(': ')];
    }),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}

function expectError({ status, headers, body }: HttpResponse, code: ErrorCode): void {
  expect(JSON.parse(body)).toEqual({
    code,
    message: expect.any(String) as string,
    status: ERROR_CATALOG.get(code).status,
  });
  expect(status).toBe(ERROR_CATALOG.get(code).status);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'access-control-allow-origin': '*',
    'x-request-id': expect.stringMatching(/^[\w-]{32,36}$/) as string,
    server: 'nginx',
  });
}

/** Stands in for a replica: it records requests, and returns 200 unless it is told to misbehave. */
class Upstream {
  connections = 0;
  readonly requests: IncomingHttpHeaders[] = [];

  private constructor(readonly port: number) {}

  static async start(behaviour: 'responds' | 'breaks' | 'hangs' = 'responds', port?: number): Promise<Upstream> {
    const server = createServer((request, response) => {
      upstream.requests.push(request.headers);
      request.resume().on('end', () => {
        if (behaviour === 'responds') {
          response.end('"served"');
        } else if (behaviour === 'breaks') {
          request.socket.destroy();
        }
      });
    });
    const upstream = new Upstream(await listen(server, port));
    server.on('connection', () => upstream.connections++);
    return upstream;
  }
}

const startGatewayFor = async (...ports: number[]) => (await startGateway(ports)).port;

const ADD = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Rex","categoryId":3}' };
const ADD_ONCE = { ...ADD, headers: { ...ADD.headers, 'idempotency-key': 'order-1' } };

describe('The gateway in front of failing replicas', () => {
  it.each([
    ['a GET', { method: 'GET' }],
    ['a POST with an Idempotency-Key', ADD_ONCE],
  ])('sends %s to another replica when one breaks the connection after reading it', async (_name, request) => {
    const [broken, sound] = [await Upstream.start('breaks'), await Upstream.start()];
    const port = await startGatewayFor(broken.port, sound.port);
    for (let time = 0; time < 2; time++) {
      expect(await call(port, '/v1/pets', request)).toMatchObject({ status: 200, body: '"served"' });
    }
    expect(broken.requests).not.toHaveLength(0);
    expect(sound.requests).toHaveLength(2);
  });

  it('sends a POST without an Idempotency-Key once, and returns 503 when the connection breaks', async () => {
    const upstreams = [await Upstream.start('breaks'), await Upstream.start('breaks')];
    const port = await startGatewayFor(...upstreams.map((upstream) => upstream.port));
    const response = await call(port, '/v1/pets', ADD);
    expectError(response, 'service_unavailable');
    expect(response.headers['retry-after']).toBe('1');
    expect(upstreams.flatMap(({ requests }) => requests)).toHaveLength(1);
  });

  it('sends any request to another replica when one refuses the connection', async () => {
    const sound = await Upstream.start();
    const port = await startGatewayFor(Number(await findFreePort()), Number(await findFreePort()), sound.port);
    for (let time = 0; time < 6; time++) {
      expect(await call(port, '/v1/pets', ADD)).toMatchObject({ status: 200 });
    }
    expect(sound.requests).toHaveLength(6);
  });

  it('returns 503 when no replica is reachable, and uses one that recovers', async () => {
    const later = await findFreePort();
    const port = await startGatewayFor(Number(await findFreePort()), Number(later));
    expectError(await call(port, '/v1/pets', ADD_ONCE), 'service_unavailable');
    await Upstream.start('responds', Number(later));
    await eventually(10_000, async () => (await call(port, '/v1/pets', ADD)).status === 200);
  });

  it('tries at most three replicas', async () => {
    const upstreams = await Promise.all(Array.from({ length: 5 }, () => Upstream.start('breaks')));
    const port = await startGatewayFor(...upstreams.map((upstream) => upstream.port));
    expectError(await call(port, '/v1/pets'), 'service_unavailable');
    expect(upstreams.flatMap(({ requests }) => requests)).toHaveLength(3);
  });

  it('stops waiting for a replica that hangs: another one serves a GET, and a POST gets a 503', async () => {
    const [hanging, sound] = [await Upstream.start('hangs'), await Upstream.start()];
    const [port, singlePort] = [await startGatewayFor(hanging.port, sound.port), await startGatewayFor(hanging.port)];
    const [first, second, rejected] = await Promise.all([
      call(port, '/v1/pets'),
      call(port, '/v1/pets'),
      call(singlePort, '/v1/pets', ADD),
    ]);
    expect([first.status, second.status]).toEqual([200, 200]);
    expectError(rejected, 'service_unavailable');
  });

  it('keeps its connections to replicas open between requests', async () => {
    const upstream = await Upstream.start();
    const port = await startGatewayFor(upstream.port);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let time = 0; time < 50; time++) {
      expect(await call(port, '/v1/pets', { agent })).toMatchObject({ status: 200 });
    }
    agent.destroy();
    expect(upstream.requests).toHaveLength(50);
    expect(upstream.connections).toBe(1);
  });

  it('never logs keys, wherever a client puts them, even when no replica responds', async () => {
    const { port, directory } = await startGateway([Number(await findFreePort())]);
    const secret = 'a'.repeat(49);
    for (const path of [`/v1/pets/pets_live_${secret}?x=pets_live_${secret}`, `/v1/pets?key=pets_live_${secret}`]) {
      expectError(await call(port, path), 'service_unavailable');
    }
    expectError(await call(port, `/pets%5Ftest_${secret}`), 'route_not_found');
    await sendBytes(port, `GET /pets_live_${secret} NONSENSE\r\n\r\n`);
    const readLogs = async () =>
      (await Promise.all(['access.log', 'error.log'].map((name) => readFile(join(directory, name), 'utf8')))).join('');
    await eventually(5_000, async () => (await readLogs()).trim().split('\n').length >= 4);
    expect(await readLogs()).toContain('"GET /v1/pets/pets_live_***"');
    expect(await readLogs()).not.toContain(secret);
  });

  it('sends the IP address and request ID of the client to replicas', async () => {
    const upstream = await Upstream.start();
    const port = await startGatewayFor(upstream.port);
    await call(port, '/v1/pets', {
      from: '127.0.0.9',
      headers: { 'x-forwarded-for': '192.0.2.1', 'x-request-id': 'order-17/a.b' },
    });
    await call(port, '/v1/pets', { headers: { 'x-request-id': 'not valid' } });
    expect(upstream.requests).toMatchObject([
      { 'x-forwarded-for': '127.0.0.9', 'x-request-id': 'order-17/a.b' },
      { 'x-forwarded-for': '127.0.0.1', 'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/) as string },
    ]);
  });
});

describe('The gateway in front of two replicas', () => {
  let port: number;
  let directory: string;
  let key: string;

  beforeAll(async () => {
    const env = { TRUST_PROXY: '1', AUTH_FAILURES_PER_MINUTE: '5' };
    const { store, replicas } = await startClusterWithRedis({ replicas: 2, env });
    key = await store.createKey('business');
    ({ port, directory } = await startGateway(replicas.map((replica) => replica.port)));
  });

  const withKey = (headers: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...headers });

  it('serves the operations with their errors and documentation, and does not reveal its version', async () => {
    const added = await call(port, '/v1/pets', { ...ADD, headers: withKey(ADD.headers) });
    expect(added).toMatchObject({ status: 201, headers: { location: '/v1/pets/1' } });
    expect(await call(port, '/v1/pets/1', { headers: withKey() })).toMatchObject({ status: 200, body: added.body });
    expect(await call(port, '/v1/pets?limit=1', { headers: withKey() })).toMatchObject({ body: `[${added.body}]` });
    expect((await call(port, '/openapi.json')).body).toContain('"openapi":"3.1');
    for (const path of ['/openapi.yaml', '/llms.txt', '/.well-known/api-catalog']) {
      expect((await call(port, path)).status).toBe(200);
    }
    expect(await call(port, '/docs')).toMatchObject({ status: 200, headers: { server: 'nginx' } });
    expect(await call(port, '/v1/pets?limit=0', { headers: withKey({ 'x-request-id': 'mine' }) })).toMatchObject({
      status: 400,
      body: expect.stringContaining('"invalid_parameter"') as string,
      headers: { 'x-request-id': 'mine', 'x-ratelimit-limit': '1000', server: 'nginx' },
    });
    expect(await call(port, '/docs/swagger-ui.css')).toMatchObject({ status: 200 });
  });

  it('reports its own liveness, and hides the endpoints for operators', async () => {
    expect(await call(port, '/healthz')).toMatchObject({
      status: 200,
      body: '{"status":"ok"}',
      headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': expect.any(String) as string },
    });
    const hidden = [
      '/readyz',
      '/metrics',
      '/%72eadyz',
      '//readyz',
      '/v1/../readyz',
      '/v1/%2e%2e/readyz',
      '/readyz?/v1',
    ];
    for (const path of [...hidden, '/', '/-/error', '/-/idempotent', '/v1x', '/healthz/']) {
      for (const headers of [undefined, { 'idempotency-key': 'order-1' }]) {
        expectError(await call(port, path, { headers }), 'route_not_found');
      }
    }
  });

  it('returns an Error for requests that it rejects itself', async () => {
    expectError(await sendBytes(port, 'nonsense\r\n\r\n'), 'malformed_request');
    expectError(await sendBytes(port, 'GET /v1/pets HTTP/1.1\r\n\r\n'), 'malformed_request');
    expectError(await sendBytes(port, 'GET /v1/pets HTTP/3.0\r\nHost: a\r\n\r\n'), 'malformed_request');
    expectError(
      await sendBytes(
        port,
        'POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\n',
      ),
      'malformed_request',
    );
    expectError(await call(port, `/v1/pets?cursor=${'a'.repeat(20_000)}`), 'uri_too_long');
    expectError(await call(port, '/v1/pets', { headers: { 'x-large': 'a'.repeat(20_000) } }), 'headers_too_large');
    expectError(await call(port, '/v1/pets', { ...ADD, body: 'a'.repeat(200_000) }), 'body_too_large');
    const trace = await call(port, '/v1/pets', { method: 'TRACE' });
    expectError(trace, 'method_not_allowed');
    expect(trace.headers.allow).toBe('DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT');
    expect(await call(port, '/nothing', { method: 'HEAD' })).toMatchObject({ status: 404, body: '' });
  });

  it("has slightly higher limits than the service, so that clients see the service's own errors", async () => {
    const rejections = [
      await call(port, '/v1/pets', { ...ADD, headers: withKey(ADD.headers), body: 'a'.repeat(65_537) }),
      await call(port, '/v1/pets', { ...ADD, headers: withKey(ADD.headers), body: 'a'.repeat(130_000) }),
      await call(port, `/v1/pets?cursor=${'a'.repeat(8_000)}`, { headers: withKey() }),
      await call(port, `/v1/pets?cursor=${'a'.repeat(12_000)}`, { headers: withKey() }),
    ];
    expect(rejections.map(({ status }) => status)).toEqual([413, 413, 414, 414]);
    rejections.forEach(({ headers }) => {
      expect(headers['x-ratelimit-limit']).toBe('1000');
    });
    const allowed = await call(port, '/v1/pets', { headers: withKey({ 'x-large': 'a'.repeat(12_000) }) });
    expect(allowed.status).toBe(200);
    const large = Object.fromEntries([1, 2, 3].map((n) => [`x-large-${n}`, 'a'.repeat(7_000)]));
    const response = await call(port, '/v1/pets', { headers: withKey(large) });
    expect(response).toMatchObject({ status: 431, body: expect.stringContaining('"headers_too_large"') as string });
  });

  it('lets replicas count failed authentications per client IP address, whatever X-Forwarded-For the client sends', async () => {
    let sent = 0;
    const attempt = async () => {
      const forged = `198.51.100.${++sent}`;
      return (await call(port, '/v1/pets', { from: '127.0.0.3', headers: { 'x-forwarded-for': forged } })).status;
    };
    // A window may end in the meantime: then the limit takes more than six requests.
    await eventually(5_000, async () => (await attempt()) === 429);
    expect(sent).toBeLessThanOrEqual(11);
    expect(await call(port, '/v1/pets', { from: '127.0.0.4' })).toMatchObject({
      status: 401,
      headers: { 'x-ratelimit-remaining': '4' },
    });
  });

  it('logs each request as a JSON line without keys', async () => {
    await call(port, `/v1/pets?api_key=${key}`, { headers: withKey({ 'x-request-id': 'logged' }) });
    const readLog = () => readFile(join(directory, 'access.log'), 'utf8');
    await eventually(5_000, async () => (await readLog()).includes('"logged"'));
    expect(parseLog(await readLog()).find(({ id }) => id === 'logged')).toEqual({
      time: expect.any(String) as string,
      id: 'logged',
      client: '127.0.0.1',
      request: 'GET /v1/pets',
      status: 200,
      bytes: expect.any(Number) as number,
      seconds: expect.any(Number) as number,
      upstream: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
      upstream_status: '200',
      upstream_seconds: expect.stringMatching(/^\d+\.\d{3}$/) as string,
    });
    expect(await readLog()).not.toContain(key);
  });
});

it('The gateway returns error codes of the service', () => {
  const configuration = readFileSync(join(__dirname, '../../docker/gateway/nginx.conf'), 'utf8');
  const map = /map \$status \$error_code \{([^}]+)\}/.exec(configuration)?.[1] ?? '';
  const codes = [...map.matchAll(/(\d{3}) (\w+);/g)].map(
    ([, status, code = '']) => [code as ErrorCode, Number(status)] as const,
  );
  expect(codes).toHaveLength(8);
  expect(codes.map(([code]) => [code, ERROR_CATALOG.get(code).status])).toEqual(codes);
});
