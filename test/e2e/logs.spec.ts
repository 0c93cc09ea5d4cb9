import { EventEmitter, once } from 'node:events';
import { IncomingMessage, request as httpRequest, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { IDENTIFIER } from '../../src/config/brand';
import { Readiness } from '../../src/health';
import { PetRepository } from '../../src/pets/domain/pet.repository';
import { ServiceUnavailableError } from '../../src/shared/domain/pet-store-error';
import { eventually } from '../cluster/support/replica';
import { getCode, TestService } from '../support/service';

describe('The log', () => {
  let service: TestService;
  let key: string;
  let lines: string[];
  let startLines: string[];

  const start = async (env: Record<string, string>) => {
    lines = [];
    service = await TestService.start(
      { APP_ENV: 'production', DRAIN_SECONDS: '0', LOG_LEVEL: 'info', ...env },
      { write: (line) => lines.push(line) },
    );
    key = await service.createKey('free');
    startLines = lines.splice(0);
  };
  const parseLines = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const findEvents = (action: string) => parseLines().filter((line) => line['event.action'] === action);
  const findRequests = () => findEvents('request');

  afterEach(() => service.close());

  it('has one JSON line for each request, with the fields needed to investigate it', async () => {
    await start({});
    await service.get('/v1/pets/9?limit=3', { key, headers: { 'x-request-id': 'abc' } });
    expect(lines).toHaveLength(1);
    expect(parseLines()).toEqual([
      {
        'log.level': 'info',
        '@timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        'ecs.version': '8.11.0',
        'service.name': 'petstore',
        'event.action': 'request',
        'http.request.id': 'abc',
        'http.request.method': 'GET',
        'http.route': '/v1/pets/:petId',
        'http.response.status_code': 404,
        'event.duration': expect.any(Number) as number,
        [IDENTIFIER]: {
          accountId: 1,
          keyStart: key.slice(0, 'pets_live_'.length + 4),
          rateLimitOutcome: 'admitted',
        },
        message: 'GET /v1/pets/:petId 404',
      },
    ]);
    // The duration is in nanoseconds.
    expect(parseLines()[0]?.['event.duration']).toBeGreaterThan(100_000);
  });

  it('has the reason why a request was rejected, and the request ID that the client received', async () => {
    await start({ AUTH_FAILURES_PER_MINUTE: '1' });
    const responses = [];
    for (const path of ['/v1/pets', '/v1/pets']) {
      responses.push(await service.get(path));
    }
    for (let request = 0; request <= 60; request++) {
      responses.push(await service.get('/v1/nowhere', { key }));
    }
    expect(findRequests().map((line) => [line['http.request.id'], line['http.response.status_code']])).toEqual(
      responses.map(({ headers, status }) => [headers['x-request-id'], status]),
    );
    expect(findRequests().map((line) => (line[IDENTIFIER] as { rateLimitOutcome: string }).rateLimitOutcome)).toEqual([
      'unauthenticated',
      'too_many_auth_failures',
      ...Array<string>(60).fill('admitted'),
      'rate_limit_exceeded',
    ]);
    expect(findRequests().at(-1)).toMatchObject({
      'http.route': 'unmatched',
      'http.response.status_code': 429,
      [IDENTIFIER]: { accountId: 1 },
    });
  });

  it('has no line for a successful probe, and one for a failed probe', async () => {
    await start({});
    const probes = ['/healthz', '/readyz', '/healthz?x=1'];
    for (const path of probes) {
      expect((await service.get(path)).status).toBe(200);
    }
    await service.call('HEAD', '/readyz');
    expect(findRequests()).toEqual([]);
    jest.spyOn(service.app.get(Readiness), 'check').mockRejectedValue(new ServiceUnavailableError());
    await service.get('/readyz');
    expect(findRequests()).toMatchObject([{ 'log.level': 'info', message: 'GET /readyz 503' }]);
  });

  it('has a line for input that is not a valid HTTP request', async () => {
    await start({});
    const response = await service.sendRaw('NONSENSE\r\n\r\n');
    await service.get('/docs/%zz');
    expect(findRequests()).toMatchObject([
      { 'http.request.id': /x-request-id: (\S+)/.exec(response)?.[1], message: 'other unmatched 400' },
      { message: 'GET unmatched 400' },
    ]);
  });

  it('has a line for a client that disconnects before the response', async () => {
    await start({});
    const disconnected = new Promise<void>((closed) => {
      const request = httpRequest({
        port: service.port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/pets',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', expect: '100-continue' },
      });
      request.on('error', () => undefined).on('close', closed);
      // The client gets 100 Continue, or a response, once its headers have been read.
      request.on('continue', () => request.destroy());
      request.write('{');
    });
    await disconnected;
    await eventually(5_000, () => findRequests().length > 0);
    expect(findRequests()).toMatchObject([{ message: 'POST /v1/pets 499' }]);
  });

  it('has a line for a client that disconnects before its request starts, and the request has no effect', async () => {
    await start({});
    const server = service.app.getHttpServer();
    const request = new IncomingMessage(new Socket());
    const headers = { host: 'localhost', authorization: `Bearer ${key}` };
    Object.assign(request, { method: 'POST', url: '/v1/pets', headers });
    server.emit('connection', request.socket);
    request.socket.destroy();
    server.emit('request', request, new ServerResponse(request));
    await service.get('/v1/pets/1', { key });
    expect(findRequests()).toMatchObject([
      { message: 'POST /v1/pets 499', [IDENTIFIER]: {} },
      { message: 'GET /v1/pets/:petId 404', [IDENTIFIER]: { rateLimitOutcome: 'admitted' } },
    ]);
  });

  describe('has a line for each pipelined request,', () => {
    /** Sends requests in one packet, and waits until the first one needs the database. */
    const pipeline = async (count: number) => {
      const reads = new EventEmitter();
      const reading = once(reads, 'read');
      const read = jest.spyOn(service.app.get(PetRepository), 'find').mockImplementationOnce(async () => {
        reads.emit('read');
        await once(reads, 'continue');
        return null;
      });
      const client = connect(service.port, '127.0.0.1').on('error', () => undefined);
      client.resume();
      const request = `GET /v1/pets/9 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
      client.write(request.repeat(count));
      await reading;
      read.mockRestore();
      return { client, goOn: () => reads.emit('continue') };
    };
    const findStatuses = () => findRequests().map((line) => line['http.response.status_code']);

    it('whose duration includes that it had to wait', async () => {
      await start({});
      const { client, goOn } = await pipeline(2);
      const now = performance.now.bind(performance);
      const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
      goOn();
      await eventually(5_000, () => findStatuses().length === 2);
      later.mockRestore();
      client.destroy();
      expect(findStatuses()).toEqual([404, 404]);
      expect(findRequests().map((line) => Number(line['event.duration']) > 9e9)).toEqual([true, true]);
    });

    it('also if the client disconnects', async () => {
      await start({});
      const { client, goOn } = await pipeline(10);
      client.resetAndDestroy();
      await eventually(5_000, () => findStatuses().length === 10);
      goOn();
      expect(findStatuses()).toEqual(Array(10).fill(499));
    });
  });

  it('reports a ban once, with the key and the end of the ban', async () => {
    await start({});
    const codes: unknown[] = [];
    for (let request = 0; request < 126; request++) {
      codes.push(getCode(await service.get('/v1/pets', { key })));
      service.clock.advance(request === 60 ? 2_000 : 0);
    }
    expect(codes.filter((code) => code === 'key_temporarily_banned')).toHaveLength(5);
    const bannedUntil = new Date(service.clock.now() + 900_000).toISOString();
    expect(findEvents('key_banned')).toMatchObject([
      {
        'log.level': 'warn',
        [IDENTIFIER]: { keyId: 1, accountId: 1, keyStart: key.slice(0, 'pets_live_'.length + 4), bannedUntil },
      },
    ]);
  });

  it('never contains a key, a query or a body, wherever a client puts them', async () => {
    await start({ LOG_LEVEL: 'trace' });
    const secret = 'private-data';
    const headers = { 'x-request-id': key, traceparent: key, 'user-agent': secret, cookie: secret, origin: secret };
    await service.post(`/v1/pets?access_token=${key}`, { key, headers, body: { name: secret, categoryId: 1 } });
    await service.post('/v1/pets', { key, headers, body: `{"name":"${secret}` });
    await service.get(`/v1/pets/${key}?${secret}`, { key });
    await service.get(`/v1/${secret}/${key}`, { headers: { authorization: `Basic ${key}` } });
    await service.get(`/${key}%zz`);
    await service.sendRaw(`GET /${key} HTTP/9\r\nAuthorization: ${key}\r\n\r\n`);
    expect(findRequests()).toHaveLength(6);
    expect(lines.join('')).not.toContain(key.slice(-49, -39));
    expect(lines.join('')).not.toContain(secret);
  });

  it('has the reason of the first 503 response immediately, and a count of further ones in the same second', async () => {
    await start({});
    await service.get('/v1/pets', { key });
    lines.length = 0;
    const failure = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:5432'), { code: 'ECONNREFUSED' });
    const query = jest
      .spyOn(service.app.get(PetRepository), 'list')
      .mockRejectedValue(new ServiceUnavailableError(failure));
    const responses = await Promise.all([1, 2, 3].map(() => service.get('/v1/pets', { key })));
    query.mockRestore();
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503]);
    const findReasons = () => findEvents('service_unavailable');
    await eventually(5_000, () => findReasons().length > 1);
    const [reason, code] = [failure.message, failure.code];
    expect(findReasons()).toMatchObject([
      { 'log.level': 'warn', 'http.request.id': expect.any(String) as string, [IDENTIFIER]: { reason, code } },
      { 'log.level': 'warn', [IDENTIFIER]: { reason, suppressed: 2 } },
    ]);
  });

  it('says once that X-Forwarded-For arrives although TRUST_PROXY is not set', async () => {
    const forwarded = { headers: { 'x-forwarded-for': '192.0.2.1' } };
    await start({});
    await service.get('/healthz');
    expect(findEvents('forwarded_for_ignored')).toEqual([]);
    await service.get('/healthz', forwarded);
    await service.get('/v1/pets', forwarded);
    expect(findEvents('forwarded_for_ignored')).toMatchObject([
      { 'log.level': 'warn', message: expect.stringContaining('TRUST_PROXY is not set') as string },
    ]);
  });

  it.each<Record<string, string>>([{ TRUST_PROXY: '1' }, { TRUST_PROXY: '0' }, { APP_ENV: 'development' }])(
    'does not say so with %j',
    async (env) => {
      await start(env);
      await service.get('/healthz', { headers: { 'x-forwarded-for': '192.0.2.1' } });
      expect(lines.join('')).not.toContain('TRUST_PROXY');
    },
  );

  it('names a variable that resembles a setting, and the setting', async () => {
    await start({ LOGLEVEL: 'warn' });
    expect(startLines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        'log.level': 'warn',
        'event.action': 'setting_ignored',
        message: 'LOGLEVEL is not a setting; did you mean LOG_LEVEL?',
      }),
    );
  });

  it.each<[string, 'error' | 'log', [unknown, ...unknown[]], object]>([
    ['a message', 'error', ['plain'], { message: 'plain' }],
    ['a stack', 'error', ['x', 'at y'], { message: 'x', 'error.stack_trace': 'at y' }],
    [
      'an error',
      'error',
      ['x', Object.assign(new Error('boom'), { stack: 'boom at z' })],
      { message: 'x', 'error.stack_trace': 'boom at z' },
    ],
    ['fields', 'log', ['saved', { id: 1 }], { message: 'saved', [IDENTIFIER]: { id: 1 } }],
    [
      'fields without a prototype',
      'error',
      ['x', Object.assign(Object.create(null), { id: 1 })],
      { message: 'x', [IDENTIFIER]: { id: 1 } },
    ],
    ['fields before a message', 'error', [{ id: 1 }, 'x'], { message: 'x', [IDENTIFIER]: { id: 1 } }],
    ['an array after an error', 'error', ['x', [1]], { message: 'x', 'error.stack_trace': '[ 1 ]' }],
    ['fields alone', 'log', [{ id: 5, event: 'a' }], { [IDENTIFIER]: { id: 5, event: 'a' } }],
    ['null', 'log', [null], { message: 'null' }],
    ['an array', 'log', [[1, 'a']], { message: "[ 1, 'a' ]" }],
    ['a map', 'log', [new Map([['a', 1]])], { message: "Map(1) { 'a' => 1 }" }],
    ['a function', 'log', [() => 'lazy'], { message: 'lazy' }],
    ['several messages', 'log', ['a', 'b'], { message: 'a' }],
  ])("has %s as a call of Nest's logger passes it", async (_, level, parameters, expected) => {
    await start({});
    lines.length = 0;
    new Logger('Test')[level](...parameters);
    const [line = {}, other = {}] = parseLines();
    expect(line).toMatchObject(expected);
    expect(other.message).toBe(parameters[1] === 'b' ? 'b' : undefined);
    expect('error.stack_trace' in line).toBe('error.stack_trace' in expected);
  });

  it('shows control characters as text in development', async () => {
    await start({ APP_ENV: 'development' });
    lines.length = 0;
    new Logger('Test').warn('a\x1b[2J', { reason: 'a\nb\x9b\u202e' });
    expect(lines.join('')).toMatch(/ WARN {2}a\\u001b\[2J logger=Test reason=a\\u000ab\\u009b\\u202e\n$/);
  });

  it('is readable text in development', async () => {
    await start({ APP_ENV: 'development' });
    await service.get('/v1/pets', { key });
    expect(lines).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d\.\d{3} INFO {2}GET \/v1\/pets 200 id=\S+ ms=[\d.]+ accountId=1 keyStart=pets_test_\w{4} rateLimitOutcome=admitted\n$/,
      ),
    ]);
  });

  it('honors LOG_LEVEL', async () => {
    await start({ LOG_LEVEL: 'warn' });
    await service.get('/v1/pets', { key });
    expect(lines).toEqual([]);
  });
});
