import { request as httpRequest } from 'node:http';
import { Readiness } from '../../src/health';
import { PetListing } from '../../src/pets/pet-listing';
import { ServiceUnavailableError } from '../../src/shared/domain/pet-store-error';
import { eventually } from '../cluster/support/replica';
import { codeOf, TestService } from '../support/service';

describe('The log', () => {
  let service: TestService;
  let key: string;
  let lines: string[];

  const start = async (env: Record<string, string>) => {
    lines = [];
    service = await TestService.start(
      { APP_ENV: 'production', DRAIN_SECONDS: '0', LOG_LEVEL: 'info', ...env },
      { write: (line) => lines.push(line) },
    );
    key = await service.createKey('free');
    lines.length = 0;
  };
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const requests = () => logged().filter(({ event }) => event === 'request');

  afterEach(() => service.close());

  it('has one JSON line for each request, with all that is needed to investigate it', async () => {
    await start({});
    await service.get('/v1/pets/9?limit=3', { key, headers: { 'x-request-id': 'abc' } });
    expect(lines).toHaveLength(1);
    expect(logged()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        event: 'request',
        id: 'abc',
        method: 'GET',
        route: '/v1/pets/:petId',
        status: 404,
        durationMs: expect.any(Number) as number,
        accountId: 1,
        key: key.slice('pets_live_'.length, 'pets_live_'.length + 4),
        rate: 'admitted',
      },
    ]);
    expect(logged()[0]?.durationMs).toBeGreaterThan(0);
  });

  it('gives the reason of a rejected request, and the request ID that the client got', async () => {
    await start({ AUTH_FAILURES_PER_MINUTE: '1' });
    const answers = [];
    for (const path of ['/v1/pets', '/v1/pets']) {
      answers.push(await service.get(path));
    }
    for (let request = 0; request <= 60; request++) {
      answers.push(await service.get('/v1/nowhere', { key }));
    }
    expect(requests().map(({ id, status }) => [id, status])).toEqual(
      answers.map(({ headers, status }) => [headers['x-request-id'], status]),
    );
    expect(requests().map(({ rate }) => rate)).toEqual([
      'unauthenticated',
      'too_many_auth_failures',
      ...Array<string>(60).fill('admitted'),
      'rate_limit_exceeded',
    ]);
    expect(requests().at(-1)).toMatchObject({ route: 'unmatched', status: 429, accountId: 1 });
  });

  it('has no line for a successful probe, and one for a failed probe', async () => {
    await start({});
    const probes = ['/healthz', '/readyz', '/healthz?x=1'];
    for (const path of probes) {
      expect((await service.get(path)).status).toBe(200);
    }
    await service.call('HEAD', '/readyz');
    expect(requests()).toEqual([]);
    jest.spyOn(service.app.get(Readiness), 'check').mockRejectedValue(new ServiceUnavailableError());
    await service.get('/readyz');
    expect(requests()).toMatchObject([{ level: 'info', method: 'GET', route: '/readyz', status: 503 }]);
  });

  it('has a line for input that never became a request', async () => {
    await start({});
    const answer = await service.raw('NONSENSE\r\n\r\n');
    await service.get('/docs/%zz');
    expect(requests()).toMatchObject([
      { id: /x-request-id: (\S+)/.exec(answer)?.[1], route: 'unmatched', status: 400 },
      { method: 'GET', route: 'unmatched', status: 400 },
    ]);
  });

  it('has a line for a client that disconnects before the response', async () => {
    await start({});
    const gone = new Promise<void>((closed) => {
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
    await gone;
    await eventually(5_000, () => requests().length > 0);
    expect(requests()).toMatchObject([{ method: 'POST', route: '/v1/pets', status: 499 }]);
  });

  it('reports a ban once, with the key and the end of the ban', async () => {
    await start({});
    const codes: unknown[] = [];
    for (let request = 0; request < 125; request++) {
      codes.push(codeOf(await service.get('/v1/pets', { key })));
    }
    expect(codes.filter((code) => code === 'key_temporarily_banned')).toHaveLength(5);
    const bannedUntil = new Date(service.clock.now() + 900_000).toISOString();
    expect(logged().filter(({ event }) => event === 'key_banned')).toEqual([
      expect.objectContaining({
        level: 'warn',
        keyId: 1,
        accountId: 1,
        key: expect.any(String) as string,
        bannedUntil,
      }),
    ]);
  });

  it('never contains a key, a query or a body, wherever a client puts them', async () => {
    await start({ LOG_LEVEL: 'trace' });
    const secret = 'what-nobody-may-read';
    const headers = { 'x-request-id': key, traceparent: key, 'user-agent': secret, cookie: secret, origin: secret };
    await service.post(`/v1/pets?access_token=${key}`, { key, headers, body: { name: secret, categoryId: 1 } });
    await service.post('/v1/pets', { key, headers, body: `{"name":"${secret}` });
    await service.get(`/v1/pets/${key}?${secret}`, { key });
    await service.get(`/v1/${secret}/${key}`, { headers: { authorization: `Basic ${key}` } });
    await service.get(`/${key}%zz`);
    await service.raw(`GET /${key} HTTP/9\r\nAuthorization: ${key}\r\n\r\n`);
    expect(requests()).toHaveLength(6);
    expect(lines.join('')).not.toContain(key.slice(10, 20));
    expect(lines.join('')).not.toContain(secret);
  });

  it('gives the reason of 503 responses: the first immediately, further ones of the same second as a number', async () => {
    await start({});
    await service.get('/v1/pets', { key });
    lines.length = 0;
    const failure = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:5432'), { code: 'ECONNREFUSED' });
    const query = jest
      .spyOn(service.app.get(PetListing), 'page')
      .mockRejectedValue(new ServiceUnavailableError(failure));
    const answers = await Promise.all([1, 2, 3].map(() => service.get('/v1/pets', { key })));
    query.mockRestore();
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    const reasons = () => logged().filter(({ event }) => event === 'service_unavailable');
    await eventually(5_000, () => reasons().length > 1);
    const [reason, code] = [failure.message, failure.code];
    expect(reasons()).toEqual([
      expect.objectContaining({ level: 'warn', id: expect.any(String) as string, reason, code }),
      expect.objectContaining({ level: 'warn', reason, unlogged: 2 }),
    ]);
  });

  it('is readable text in development', async () => {
    await start({ APP_ENV: 'development' });
    await service.get('/v1/pets', { key });
    expect(lines).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d\.\d{3} INFO {2}request id=\S+ method=GET route=\/v1\/pets status=200 .+\n$/,
      ),
    ]);
  });

  it('honours LOG_LEVEL', async () => {
    await start({ LOG_LEVEL: 'warn' });
    await service.get('/v1/pets', { key });
    expect(lines).toEqual([]);
  });
});
