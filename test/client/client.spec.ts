import { DataSource } from 'typeorm';
import { ERROR_CATALOG } from '../../src/error-catalog';
import { createPetStore, type PetStoreOptions, PetStoreError } from '../../clients/typescript/src';
import { OPERATIONS } from '../../clients/typescript/src/openapi';
import { TestService } from '../support/service';
import { type Failure, type Fault, FaultyProxy } from './faulty-proxy';

const INT64_MAX = 9_223_372_036_854_775_807n;

describe('The client', () => {
  let service: TestService;
  let proxy: FaultyProxy;
  let name: string;

  beforeAll(async () => {
    service = await TestService.start();
    proxy = await FaultyProxy.start(service.port);
  });
  beforeEach(() => {
    name = expect.getState().currentTestName ?? '';
    proxy.break([]);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await proxy.close();
    await service.close();
  });

  const createClient = (apiKey: string, options: Partial<PetStoreOptions> = {}) =>
    createPetStore({ baseUrl: proxy.baseUrl, apiKey, ...options });
  const startClient = async (options?: Partial<PetStoreOptions>) => createClient(await service.createKey(), options);
  const createPetInput = () => ({ name: name.slice(-255), categoryId: 3n });
  const findStoredIds = () =>
    service.app
      .get(DataSource)
      .query<{ id: string }[]>('SELECT id FROM pets WHERE name = $1 ORDER BY id', [createPetInput().name]);
  const catchError = async (promise: Promise<unknown>): Promise<PetStoreError> => {
    const error: unknown = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof PetStoreError)) {
      throw new Error('The call did not fail with a PetStoreError.', { cause: error });
    }
    return error;
  };
  const collect = async <T>(items: AsyncIterable<T>) => {
    const found: T[] = [];
    for await (const item of items) {
      found.push(item);
    }
    return found;
  };
  const createFailure = (
    status: number,
    headers: Record<string, string> = {},
    code = 'service_unavailable',
  ): Failure => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ code, message: 'Try later.', status }),
  });
  const html: Failure = { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad Gateway</html>' };

  describe('sends every operation', () => {
    it('with a method of the same name', async () => {
      expect(Object.keys(await startClient())).toEqual([...Object.keys(OPERATIONS), 'paginate', 'withResponse']);
    });

    it('with its path, query, headers and body', async () => {
      const petStore = await startClient();
      const pet = await petStore.createPet({
        body: { ...createPetInput(), status: 'sold' },
        header: { 'Idempotency-Key': 'mine' },
      });
      expect(pet).toEqual({ id: pet.id, ...createPetInput(), status: 'sold' });
      expect(proxy.requests[0]?.headers['idempotency-key']).toBe('mine');
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- until it is removed
      expect(await petStore.getPet({ path: { petId: pet.id } })).toEqual(pet);
      expect(await petStore.listPets({ query: { status: 'sold', limit: 1, cursor: undefined } })).toHaveLength(1);
      expect(proxy.requests[2]?.url).toBe('/v1/pets?status=sold&limit=1');
      expect(Array.isArray(await petStore.listPets())).toBe(true);
    });
  });

  it('keeps int64 values exact in requests and responses', async () => {
    await service.app
      .get(DataSource)
      .query(
        `INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE VALUES ($1, 'Max', $1, 'available')`,
        [String(INT64_MAX)],
      );
    const petStore = await startClient();
    const categoryId = -INT64_MAX - 1n;
    const pet = await petStore.createPet({ body: { ...createPetInput(), categoryId } });
    expect(pet).toEqual({ id: pet.id, name: createPetInput().name, categoryId, status: 'available' });
    const available = await collect(petStore.paginate('listPets', { query: { status: 'available' } }));
    expect(available).toContainEqual(pet);
    expect(available).toContainEqual({ id: INT64_MAX, name: 'Max', categoryId: INT64_MAX, status: 'available' });
  });

  describe('paginates', () => {
    it('over every matching item once and in order, and sends the key to the base URL only', async () => {
      await service.app
        .get(DataSource)
        .query(`INSERT INTO pets (name, category_id, status) SELECT $1, n, 'pending' FROM generate_series(1, 45) n`, [
          name,
        ]);
      const petStore = await startClient();
      const pending = petStore.paginate('listPets', { query: { status: 'pending', limit: 7 } });
      expect((await collect(pending)).map(({ categoryId }) => categoryId)).toEqual(
        Array.from({ length: 45 }, (_, index) => BigInt(index + 1)),
      );
      // Although Link names the host of PUBLIC_BASE_URL, all requests went to the base URL of the client.
      expect(proxy.requests).toHaveLength(7);
    });

    it('over an empty list', async () => {
      await service.queryAsAdmin(`UPDATE pets SET status = 'pending' WHERE status = 'sold'`);
      expect(await collect((await startClient()).paginate('listPets', { query: { status: 'sold' } }))).toEqual([]);
    });

    it('and requests a page only when it is needed', async () => {
      for await (const pet of (await startClient()).paginate('listPets', { query: { limit: 1 } })) {
        expect(pet).toBeDefined();
        break;
      }
      expect(proxy.requests).toHaveLength(1);
    });
  });

  describe('retries', () => {
    beforeEach(() => {
      // Without the random part of each delay.
      jest.spyOn(Math, 'random').mockReturnValue(0);
    });

    it.each<[string, Fault[]]>([
      ['a 429', [{ before: createFailure(429, { 'retry-after': '0' }, 'rate_limit_exceeded') }]],
      ['a 408', [{ before: createFailure(408, {}, 'request_timeout') }]],
      ['a 503', [{ before: createFailure(503, { 'retry-after': '1' }) }]],
      ['a 503 after the animal was added', [{ after: createFailure(503, { 'retry-after': '0' }) }]],
      ['the 502 of a gateway after the animal was added', [{ after: html }]],
      ['a connection that is reset before the service has the request', ['reset before']],
      ['a connection that is reset before the response', ['reset after']],
      ['a connection that is reset during the response', ['reset during the body']],
      ['a response that takes too long', ['no response']],
      ['several of these in sequence', ['reset before', 'reset after', { after: html }, 'reset during the body']],
    ])('%s, and adds one animal', async (_, faults) => {
      const petStore = await startClient({ timeoutMs: faults.includes('no response') ? 1_000 : 10_000 });
      proxy.break(faults);
      const pet = await petStore.createPet({ body: createPetInput() });
      expect(await findStoredIds()).toEqual([{ id: String(pet.id) }]);
      expect(proxy.requests).toHaveLength(faults.length + 1);
      const keys = new Set(proxy.requests.map(({ headers }) => headers['idempotency-key']));
      expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    });

    it.each<[string, Fault]>([
      ['rate_limit_exceeded', { before: createFailure(429, { 'retry-after': '0' }, 'rate_limit_exceeded') }],
      ['service_unavailable', { after: createFailure(503) }],
      ['unexpected_response', { after: html }],
      ['connection_failed', 'reset after'],
      ['timeout', 'no response'],
    ])('a limited number of times, then throws %s', async (code, fault) => {
      const petStore = await startClient({ maxRetries: 2, timeoutMs: code === 'timeout' ? 300 : 10_000 });
      proxy.break([], fault);
      expect((await catchError(petStore.createPet({ body: createPetInput() }))).code).toBe(code);
      expect(proxy.requests).toHaveLength(3);
      expect((await findStoredIds()).length).toBeLessThanOrEqual(1);
    });

    it('a list when any of its pages fails', async () => {
      await service.app
        .get(DataSource)
        .query(`INSERT INTO pets (name, category_id, status) SELECT $1, n, 'sold' FROM generate_series(1, 5) n`, [
          name,
        ]);
      proxy.break(['reset before', 'none', 'reset during the body', { before: createFailure(503) }]);
      const sold = (await startClient()).paginate('listPets', { query: { status: 'sold', limit: 2 } });
      const found = (await collect(sold)).filter((pet) => pet.name === name);
      expect(found.map(({ categoryId }) => categoryId)).toEqual([1n, 2n, 3n, 4n, 5n]);
    });

    it.each([400, 401, 403, 404, 409, 500])('never after a %d', async (status) => {
      const petStore = await startClient();
      proxy.break([], { before: createFailure(status) });
      expect((await catchError(petStore.createPet({ body: createPetInput() }))).status).toBe(status);
      expect(proxy.requests).toHaveLength(1);
    });

    it('never if Retry-After exceeds the maximum wait of the caller, and other calls then fail without a request', async () => {
      const petStore = createClient(await service.createKey('enterprise', { perMinute: 10, perDay: 1 }));
      await petStore.createPet({ body: createPetInput() });
      const { code, retryAfter = 0 } = await catchError(petStore.createPet({ body: createPetInput() }));
      expect(code).toBe('daily_quota_exceeded');
      expect(retryAfter).toBeGreaterThan(120);
      const others = await Promise.all(Array.from({ length: 100 }, () => catchError(petStore.listPets())));
      expect(new Set(others.map((error) => error.code))).toEqual(new Set(['daily_quota_exceeded']));
      expect(proxy.requests).toHaveLength(2);
    });

    it('after Retry-After or twice the previous wait, plus a random delay, which doubles', async () => {
      jest.spyOn(Math, 'random').mockReturnValue(0.5);
      const waits: number[] = [];
      const wait = setTimeout;
      jest.spyOn(globalThis, 'setTimeout').mockImplementation((done: () => void, ms = 0) => {
        const isClientDelay = [7_250, 14_500, 41_000, 82_000].includes(ms);
        if (isClientDelay) {
          waits.push(ms);
        }
        return wait(done, isClientDelay ? 0 : ms);
      });
      const petStore = await startClient();
      const fail = (seconds: number) => ({ before: createFailure(503, { 'retry-after': `${seconds}` }) });
      proxy.break([fail(7), fail(1), fail(40), 'reset before']);
      await petStore.createPet({ body: createPetInput() });
      expect(waits).toEqual([7_250, 14_500, 41_000, 82_000]);
    });

    it('no request of this client until the Retry-After of a 429 has passed', async () => {
      const rejected = new Promise<void>((resolve) => {
        proxy.break([{ before: createFailure(429, { 'retry-after': '1' }, 'rate_limit_exceeded') }]);
        void startClient({
          fetch: async (url, init) => {
            const response = await fetch(url, init);
            setImmediate(resolve);
            return response;
          },
        }).then((petStore) => {
          calls.push(petStore.listPets());
          void rejected.then(() => calls.push(petStore.listPets(), petStore.listPets()));
        });
      });
      const calls: Promise<unknown>[] = [];
      await rejected;
      await Promise.all(calls);
      await Promise.all(calls);
      const [first = NaN, ...later] = proxy.requests.map(({ at }) => at);
      expect(later.map((at) => at - first >= 990)).toEqual([true, true, true]);
    });
  });

  describe('stays within the rate limit', () => {
    const { now } = Date;
    const wait = setTimeout;

    /** Sends requests to the service, and returns responses with only one kind of rate limit headers, as of the test's clock. */
    const createFetch = (kind: string, observe: (status: number, running: number) => void): typeof fetch => {
      let running = 0;
      return async (url, init) => {
        running++;
        const response = await fetch(url, init);
        observe(response.status, running--);
        const headers = new Headers(response.headers);
        const seconds = Number(headers.get('X-RateLimit-Reset')) - Math.floor(service.clock.now() / 1_000);
        headers.set('Date', new Date(service.clock.now()).toUTCString());
        if (kind === 'RateLimit of the service') {
          ['Limit', 'Remaining', 'Reset'].forEach((name) => {
            headers.delete(`X-RateLimit-${name}`);
          });
        } else {
          headers.delete('RateLimit');
        }
        if (kind === 'RateLimit') {
          const remaining = headers.get('X-RateLimit-Remaining') ?? '';
          headers.set('RateLimit', `"day";r=9999;t=4242, "minute";r=${remaining};t=${seconds}`);
          headers.set('RateLimit-Policy', '"day";q=10000;w=86400, "minute";q=60;w=60');
          headers.delete('X-RateLimit-Remaining');
        }
        return new Response(response.body, { status: response.status, headers });
      };
    };

    it.each([
      ['X-RateLimit-*', 'free', undefined],
      ['RateLimit', 'free', undefined],
      ['RateLimit of the service', 'free', undefined],
      ['X-RateLimit-*', 'enterprise', { perMinute: 4, perDay: 1_000 }],
    ] as const)('that %s shows on plan %s, for many calls at once', async (kind, plan, allowance) => {
      let elapsed = 0;
      service.clock.set(Math.ceil(now() / 1_000) * 1_000);
      const monotonicNow = performance.now.bind(performance);
      jest.spyOn(Date, 'now').mockImplementation(() => now() + elapsed);
      jest.spyOn(performance, 'now').mockImplementation(() => monotonicNow() + elapsed);
      jest.spyOn(globalThis, 'setTimeout').mockImplementation((done: () => void, ms = 0) => {
        const isReset = ms > 50_000 && ms < 62_000;
        const finish = () => {
          elapsed += ms;
          // The test's clock stood still since the response, and responses state the end of the window in whole seconds.
          service.clock.advance(Math.ceil(ms / 1_000) * 1_000);
          done();
        };
        return isReset ? wait(finish, 5) : wait(done, ms);
      });
      const statuses: number[] = [];
      let mostRunning = 0;
      const petStore = createClient(await service.createKey(plan, allowance), {
        maxConcurrency: allowance?.perMinute ?? 20,
        fetch: createFetch(kind, (status, running) => {
          statuses.push(status);
          mostRunning = Math.max(mostRunning, running);
        }),
      });
      const calls = Array.from({ length: plan === 'free' ? 200 : 30 }, () => petStore.listPets());
      expect(await Promise.all(calls)).toHaveLength(calls.length);
      expect(statuses).toEqual(calls.map(() => 200));
      expect(mostRunning).toBeLessThanOrEqual(20);
    });

    it('from the first response on: until then, it sends one request', async () => {
      const running: number[] = [];
      const petStore = await startClient({ fetch: createFetch('X-RateLimit-*', (_, count) => running.push(count)) });
      await Promise.all([petStore.listPets(), petStore.listPets(), petStore.listPets()]);
      expect(running).toEqual([1, 2, 1]);
    });

    it('or not at all, if a proxy removes its headers', async () => {
      const running: number[] = [];
      const observed = createFetch('RateLimit of the service', (_, count) => running.push(count));
      const petStore = await startClient({
        fetch: async (url, init) => {
          const response = await observed(url, init);
          return new Response(response.body, { status: response.status });
        },
      });
      await Promise.all([petStore.listPets(), petStore.listPets(), petStore.listPets()]);
      expect(running).toEqual([1, 2, 1]);
    });
  });

  describe('is aborted', () => {
    const reason = new Error('The user closed the window.');

    it('before it sends a request', async () => {
      const petStore = await startClient();
      await expect(petStore.listPets({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(proxy.requests).toHaveLength(0);
    });

    it('while it waits for the response', async () => {
      const controller = new AbortController();
      proxy.break([], 'no response');
      const call = (await startClient()).createPet({ body: createPetInput(), signal: controller.signal });
      await proxy.waitForRequest();
      controller.abort(reason);
      await expect(call).rejects.toBe(reason);
      expect(proxy.requests).toHaveLength(1);
    });

    it('while it waits for the next attempt', async () => {
      const controller = new AbortController();
      const wait = setTimeout;
      jest.spyOn(globalThis, 'setTimeout').mockImplementation((done: () => void, ms = 0) => {
        if (ms >= 60_000) {
          setImmediate(() => {
            controller.abort(reason);
          });
        }
        return wait(done, ms);
      });
      proxy.break([], { before: createFailure(503, { 'retry-after': '60' }) });
      await expect((await startClient()).listPets({ signal: controller.signal })).rejects.toBe(reason);
      expect(proxy.requests).toHaveLength(1);
    });
  });

  describe('throws a PetStoreError', () => {
    it('with all details that the service returns', async () => {
      const petStore = createClient(await service.createKey('enterprise', { perMinute: 1, perDay: 10 }), {
        maxRetries: 0,
        maxRetryAfterSeconds: 0,
      });
      await petStore.listPets();
      const thrown = await catchError(petStore.listPets());
      expect(thrown).toMatchObject({
        name: 'PetStoreError',
        code: 'rate_limit_exceeded',
        status: 429,
        message: expect.stringContaining('Retry-After') as string,
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        retryAfter: 60,
        rateLimit: { limit: 1, remaining: 0, reset: expect.any(Date) as Date },
      });
      expect(Number(thrown.rateLimit?.reset)).toBe(service.clock.now() + 60_000);
    });

    it.each<[string, Failure, Partial<PetStoreError>]>([
      [
        'a code that is new',
        createFailure(422, {}, 'brand_new'),
        { code: 'brand_new', status: 422, message: 'Try later.' },
      ],
      ['HTML', { ...html, status: 404 }, { code: 'unexpected_response', status: 404 }],
      ['HTML with status 200', { ...html, status: 200 }, { code: 'unexpected_response', status: 200 }],
      ['a redirect', { status: 307, headers: { location: '/v1/pets' } }, { code: 'unexpected_response', status: 307 }],
      ['an empty error', { status: 400 }, { code: 'unexpected_response', status: 400 }],
      ['null', { status: 400, body: 'null' }, { code: 'unexpected_response', status: 400 }],
    ])('for %s', async (_, before, expected) => {
      const petStore = await startClient();
      proxy.break([], { before });
      expect(await catchError(petStore.listPets())).toMatchObject(expected);
      expect(proxy.requests).toHaveLength(1);
    });

    it('with the cause if there is no response', async () => {
      const petStore = await startClient({ maxRetries: 0 });
      proxy.break([], 'reset before');
      const { status, cause } = await catchError(petStore.listPets());
      expect([status, cause]).toEqual([undefined, expect.objectContaining({ name: 'TypeError' })]);
    });
  });

  it('declares every error code of the service', async () => {
    const document = (await service.get('/openapi.json')).body as {
      components: { schemas: { Error: { properties: { code: { examples: string[] } } } } };
    };
    expect(document.components.schemas.Error.properties.code.examples.sort()).toEqual([...ERROR_CATALOG.codes].sort());
  });
});
