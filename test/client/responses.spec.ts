import { createPetStore, PetStoreError, type PetStoreOptions, stringify } from '../../clients/typescript/src';
import { OPERATIONS } from '../../clients/typescript/src/openapi';

const BIG = 9_223_372_036_854_775_807n;
const PET = '{"id":9223372036854775807,"name":"\\"id\\":1, 2","categoryId":3,"status":"available"}';

interface Prepared {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Creates a client that gets the prepared responses in order, and the last one again and again. */
function createClient(responses: readonly Prepared[], options: Partial<PetStoreOptions> = {}) {
  const requests: { readonly url: string; readonly headers: Headers; readonly body: unknown }[] = [];
  const fetch: typeof globalThis.fetch = (url, init = {}) => {
    const {
      status = 200,
      headers,
      body = `[${PET}]`,
    } = responses[Math.min(requests.length, responses.length - 1)] ?? {};
    requests.push({ url: url as string, headers: init.headers as Headers, body: init.body });
    return Promise.resolve(new Response(body, { status, ...(headers && { headers }) }));
  };
  const petStore = createPetStore({ baseUrl: 'http://pets.test/v1', apiKey: 'key', maxRetries: 0, fetch, ...options });
  return { petStore, requests };
}

const catchError = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

async function count(items: AsyncIterable<unknown>): Promise<number> {
  let found = 0;
  for await (const item of items) {
    found += item === undefined ? 0 : 1;
  }
  return found;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('The client', () => {
  it.each([
    '<?cursor=2>; rel=next',
    '<?cursor=2>; title="a, b; rel=prev"; rel="next"',
    '</help>; rel="help", </v1/pets?cursor=2>; type="application/json"; REL="last NEXT"',
    '<https://elsewhere.test/v1/pets?cursor=2>;rel="next"',
  ])('follows Link: %s', async (link) => {
    const { petStore, requests } = createClient([
      { headers: { link } },
      { headers: { link: '<?cursor=1>; rel="prev"' } },
    ]);
    expect(await count(petStore.paginate('listPets'))).toBe(2);
    expect(requests.map(({ url }) => url)).toEqual(['http://pets.test/v1/pets', 'http://pets.test/v1/pets?cursor=2']);
  });

  it.each(['http://pets.test/v1', '/v1'])('uses the cursor of Link unchanged with the base URL %s', async (baseUrl) => {
    const link = '<https://pets.test/v1/pets?cursor=$1$&$`>; rel="next"';
    const { petStore, requests } = createClient([{ headers: { link } }, {}], { baseUrl });
    expect(await count(petStore.paginate('listPets', { query: { limit: 1 } }))).toBe(2);
    expect(requests[1]?.url).toBe(`${baseUrl}/pets?cursor=$1$&$\``);
  });

  it('throws a PetStoreError for a malformed link to the next page', async () => {
    const { petStore } = createClient([{ headers: { link: '<http://[bad>; rel="next"' } }]);
    const error = await catchError(count(petStore.paginate('listPets')));
    expect(error).toBeInstanceOf(PetStoreError);
    expect(error).toMatchObject({
      code: 'unexpected_response',
      message: expect.stringContaining('its link to the next page is malformed') as string,
    });
  });

  it('ends a loop of links with an error', async () => {
    const pages = [1, 2, 1].map((page) => ({ headers: { link: `<?cursor=${page}>; rel=next` } }));
    const { petStore, requests } = createClient(pages);
    expect(await catchError(count(petStore.paginate('listPets')))).toMatchObject({
      code: 'unexpected_response',
      message: expect.stringContaining('leads back') as string,
    });
    expect(requests).toHaveLength(3);
  });

  it.each([
    ['<html>', 'not valid JSON'],
    ['', 'not valid JSON'],
    ['[{"id":1.5,"name":"Max","categoryId":3,"status":"sold"}]', 'not valid JSON'],
    ['[{"id":"7","name":"Max","categoryId":3,"status":"sold"}]', 'not valid JSON'],
    [PET, 'not the one of listPets'],
    ['null', 'not the one of listPets'],
    ['[{"id":1}]', 'not the one of listPets'],
    ['[1]', 'not the one of listPets'],
  ])('throws a PetStoreError for the 200 response %j', async (body, message) => {
    const error = await catchError(createClient([{ body }]).petStore.listPets());
    expect(error).toBeInstanceOf(PetStoreError);
    expect(error).toMatchObject({ code: 'unexpected_response', message: expect.stringContaining(message) as string });
  });

  it('throws a PetStoreError for a 204 of an operation whose responses have a body', async () => {
    const { petStore } = createClient([], { fetch: () => Promise.resolve(new Response(null, { status: 204 })) });
    expect(await catchError(petStore.listPets())).toMatchObject({ code: 'unexpected_response' });
  });

  it.each([
    [429, 2],
    [503, 1],
  ])('after a %d, sends a request that must not be repeated %d times', async (status, sent) => {
    const operation: { takesIdempotencyKey: boolean } = OPERATIONS.createPet;
    jest.replaceProperty(operation, 'takesIdempotencyKey', false);
    const failure = { status, headers: { 'retry-after': '0' } };
    const { petStore, requests } = createClient([failure, { status: 201, body: PET }], { maxRetries: 1 });
    await catchError(petStore.createPet({ body: { name: 'Max', categoryId: 3n } }));
    expect(requests).toHaveLength(sent);
  });

  it('sends nothing until the window of a 429 without Retry-After has ended', async () => {
    const reset = Math.ceil(Date.now() / 1_000) + 600;
    const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${reset}` };
    const { petStore, requests } = createClient([{ status: 429, headers }]);
    await catchError(petStore.listPets());
    expect(await catchError(petStore.listPets())).toMatchObject({ status: 429 });
    expect(requests).toHaveLength(1);
  });

  it('sends requests after Retry-After, although the clock has been set back', async () => {
    const { now } = Date;
    const wait = setTimeout;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((done: () => void, ms = 0) => {
      jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
      return wait(done, ms);
    });
    const { petStore } = createClient([{ status: 429, headers: { 'retry-after': '1' } }, {}], { maxRetries: 1 });
    expect(await petStore.listPets()).toBeDefined();
  });

  it.each<[string, Partial<PetStoreOptions>, object]>([
    ['The API key contains', { apiKey: 'kéy' }, {}],
    ['The API key contains', { apiKey: 'k\ney' }, {}],
    ['Idempotency-Key contains', {}, { header: { 'Idempotency-Key': 'für Max' } }],
    ['9007199254740992 is not an exact number', {}, { body: { name: 'Max', categoryId: 2 ** 53 } }],
    ['NaN is not an exact number', {}, { query: { limit: NaN } }],
  ])('rejects input without sending it: "%s …"', async (message, options, input) => {
    const { petStore, requests } = createClient([{ body: PET }], options);
    const error = await catchError(petStore.createPet(input as Parameters<typeof petStore.createPet>[0]));
    expect(error).toBeInstanceOf(PetStoreError);
    expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining(message) as string });
    expect(requests).toHaveLength(0);
  });

  it.each<[Partial<PetStoreOptions>, string]>([
    [{ baseUrl: 'localhost:4201/v1' }, 'baseUrl must be a URL such as'],
    [{ baseUrl: 'api.petstore.example/v1' }, 'baseUrl must be a URL such as'],
    [{ baseUrl: 'ftp://pets.test/v1' }, 'baseUrl must be a URL such as'],
    [{ baseUrl: 'https://[bad/v1' }, 'baseUrl must be a URL such as'],
    [{ baseUrl: 'https://pets.test/v1?limit=1' }, 'baseUrl must be a URL such as'],
    [{ baseUrl: 'https://user:password@pets.test/v1' }, 'baseUrl must be a URL such as'],
    [{ baseUrl: '' }, 'baseUrl must be a URL such as'],
    [{ timeoutMs: Infinity }, 'timeoutMs must be a number from 1 to 2147483647, not Infinity'],
    [{ timeoutMs: 0 }, 'timeoutMs must be a number from 1 to 2147483647, not 0'],
    [{ maxRetries: -1 }, 'maxRetries must be a number of at least 0, not -1'],
    [{ maxRetryAfterSeconds: NaN }, 'maxRetryAfterSeconds must be a number of at least 0, not NaN'],
    [{ maxConcurrency: 0 }, 'maxConcurrency must be a number of at least 1, not 0'],
  ])('is not created with the option %p', (options, message) => {
    const create = () => createClient([], options);
    expect(create).toThrow(PetStoreError);
    expect(create).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining(message) as string }) as Error,
    );
  });

  it('is created with a fractional timeout, and without a limit of retries, waits and requests', async () => {
    const options = {
      timeoutMs: 999.5,
      maxRetries: Infinity,
      maxRetryAfterSeconds: Infinity,
      maxConcurrency: Infinity,
    };
    expect(await createClient([{}], options).petStore.listPets()).toHaveLength(1);
  });

  it('returns fields that it does not know unchanged, whatever their names are', async () => {
    const added = { owner: { id: 'usr_7', categoryId: '#7' }, vet: { id: 1.5 }, reset: [7, '#7'], toys: [{ id: 7 }] };
    const body = `{${PET.slice(1, -1)},${JSON.stringify(added).slice(1, -1)}}`;
    const { petStore } = createClient([{ body }, { body: `[${body}]` }]);
    const pet = { id: BIG, name: '"id":1, 2', categoryId: 3n, status: 'available', ...added };
    expect(await petStore.createPet({ body: { name: 'Max', categoryId: 3n } })).toEqual(pet);
    expect(await petStore.listPets()).toEqual([pet]);
  });

  it('returns nested int64 fields as bigint', async () => {
    const body = '{"minute":{"limit":60,"remaining":59,"reset":7},"day":{"reset":9223372036854775807},"ban":null}';
    expect(await createClient([{ body }]).petStore.getRateLimit()).toEqual({
      minute: { limit: 60, remaining: 59, reset: 7n },
      day: { reset: BIG },
      ban: null,
    });
  });

  it('returns animals that JSON.stringify accepts, with all digits', async () => {
    const { petStore, requests } = createClient([{ body: PET }]);
    const pet = await petStore.createPet({ body: { name: 'Max', categoryId: BIG } });
    expect(requests[0]?.body).toBe(`{"name":"Max","categoryId":${BIG}}`);
    // Without JSON.rawJSON, which Node.js 20 lacks, the digits are a string.
    expect(JSON.stringify([pet]).replace(`"${BIG}"`, String(BIG))).toBe(`[${PET}]`);
    expect(stringify([{ ...pet, note: undefined }])).toBe(`[${PET}]`);
  });

  it('returns the headers on request', async () => {
    const headers = {
      ...{ 'x-request-id': 'r1', 'idempotent-replayed': 'true', location: '/v1/pets/1' },
      ...{ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59', 'x-ratelimit-reset': '60' },
    };
    const { petStore } = createClient([{ status: 201, headers, body: PET }]);
    const result = await petStore.withResponse('createPet', { body: { name: 'Max', categoryId: 3n } });
    expect(result).toMatchObject({ data: { id: BIG }, status: 201, requestId: 'r1', isReplayed: true });
    expect(result.rateLimit).toEqual({ limit: 60, remaining: 59, reset: new Date(60_000) });
    expect(result.headers.get('Location')).toBe('/v1/pets/1');
  });

  it.each([
    ['7', 7],
    ['Sat, 21 Nov 2026 12:00:09 GMT', 9],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['soon', undefined],
  ])('reads Retry-After: %s', async (retryAfter, seconds) => {
    const headers = { 'retry-after': retryAfter, date: 'Sat, 21 Nov 2026 12:00:00 GMT' };
    const { petStore } = createClient([{ status: 503, headers }]);
    expect(await catchError(petStore.listPets())).toMatchObject({ status: 503, retryAfter: seconds });
  });

  it.each([400, 401, 408, 414, 431, 503])('ignores the window of the client IP address in a %d', async (status) => {
    const headers = {
      ...{ ratelimit: '"client-ip";r=0;t=60', 'ratelimit-policy': '"client-ip";q=60;w=60' },
      ...{
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': `${Math.ceil(Date.now() / 1_000) + 60}`,
      },
    };
    const { petStore, requests } = createClient([{ status, headers }, {}]);
    await catchError(petStore.listPets());
    void petStore.listPets();
    await new Promise(setImmediate);
    expect(requests).toHaveLength(2);
  });

  it.each<[string, Prepared]>([
    ['a window is exhausted', { headers: { ratelimit: '"minute";r=0;t=60' } }],
    ['the key is banned', { status: 429, headers: { 'retry-after': '900' } }],
  ])('sends getRateLimit at once while %s', async (_, first) => {
    const { petStore, requests } = createClient([first, { body: '{"minute":{"reset":7},"day":{"reset":8}}' }]);
    await catchError(petStore.listPets());
    void petStore.getRateLimit();
    await new Promise(setImmediate);
    expect(requests.map(({ url }) => url)).toEqual(['http://pets.test/v1/pets', 'http://pets.test/v1/rate-limit']);
  });

  it('rejects waiting calls as soon as their shared signal is aborted, and without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const { petStore, requests } = createClient([{ status: 429, headers: { 'retry-after': '60' } }]);
    await catchError(petStore.listPets());
    const controller = new AbortController();
    const calls = Array.from({ length: 30 }, () => catchError(petStore.listPets({ signal: controller.signal })));
    await new Promise(setImmediate);
    controller.abort(new Error('Enough.'));
    expect(new Set((await Promise.all(calls)).map(String))).toEqual(new Set(['Error: Enough.']));
    expect(requests).toHaveLength(1);
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});
