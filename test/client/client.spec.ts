import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { ERROR_CATALOG } from '../../src/error-catalog';
import { TestService } from '../support/service';
import { CODES, connect, createPet, explain, listPets, main, type Pet, PetStoreError } from './client';

const REX = { name: 'Rex', categoryId: 3n };
const INT64_MAX = 9_223_372_036_854_775_807n;

describe('The client of docs/getting-started.md', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await TestService.start();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await service.close();
  });

  const connectWith = (key: string) => connect(`http://127.0.0.1:${service.port}/v1`, key);
  const connectAs = async (perMinute: number, perDay = 100_000) =>
    connectWith(await service.createKey('enterprise', { perMinute, perDay }));
  const storedPets = () => service.app.get(DataSource).query<{ id: string }[]>('SELECT id FROM pets ORDER BY id');
  const failure = async (promise: Promise<unknown>): Promise<PetStoreError> => {
    const error: unknown = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof PetStoreError)) {
      throw new Error('It did not fail with a PetStoreError.', { cause: error });
    }
    return error;
  };

  const all = async (pets: AsyncIterable<Pet>) => {
    const found: Pet[] = [];
    for await (const pet of pets) {
      found.push(pet);
    }
    return found;
  };

  /** Has a wait of this length pass at once, when what happens meanwhile is done, and gives back how many there were. */
  const passAtOnce = (seconds: number, meanwhile: () => unknown) => {
    const wait = setTimeout;
    const waits = { count: 0 };
    const fake = (done: () => void, milliseconds?: number) => {
      if (milliseconds !== seconds * 1_000) {
        return wait(done, milliseconds);
      }
      waits.count++;
      return wait(() => void Promise.resolve(meanwhile()).then(done), 0);
    };
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(fake);
    return waits;
  };

  describe('lists', () => {
    it('every animal once, in order, over as many pages as there are', async () => {
      const api = await connectAs(1_000);
      await service.app
        .get(DataSource)
        .query(`INSERT INTO pets (name, category_id, status) SELECT 'Rex', n, 'sold' FROM generate_series(1, 45) n`);
      await createPet(api, REX);
      expect((await all(listPets(api))).map(({ id }) => id)).toEqual(
        Array.from({ length: 46 }, (_, index) => BigInt(index + 1)),
      );
      const sold = await all(listPets(api, { status: 'sold', limit: 7 }));
      expect(sold.map(({ categoryId }) => categoryId)).toEqual(Array.from({ length: 45 }, (_, n) => BigInt(n + 1)));
    });

    it('nothing when there is nothing', async () => {
      expect(await all(listPets(await connectAs(1_000)))).toEqual([]);
    });
  });

  it('keeps int64 exact, in both directions', async () => {
    const api = await connectAs(1_000);
    await service.app
      .get(DataSource)
      .query(`SELECT setval(pg_get_serial_sequence('pets', 'id'), $1, false)`, [String(INT64_MAX)]);
    const pet = await createPet(api, { ...REX, categoryId: -INT64_MAX - 1n });
    expect(pet).toEqual({ id: INT64_MAX, name: 'Rex', categoryId: -INT64_MAX - 1n, status: 'available' });
    expect(await all(listPets(api))).toEqual([pet]);
  });

  describe('tries again', () => {
    it('after 429, when Retry-After has passed', async () => {
      const api = await connectAs(2);
      const waits = passAtOnce(60, () => {
        service.clock.advance(60_000);
      });
      const pets = [await createPet(api, REX), await createPet(api, REX), await createPet(api, REX)];
      expect(waits.count).toBe(1);
      expect(pets.map(({ id }) => id)).toEqual([1n, 2n, 3n]);
      expect(await storedPets()).toHaveLength(3);
    });

    it('after 503, when Retry-After has passed', async () => {
      const api = await connectAs(1_000);
      const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      const { driver } = service.app.get(DataSource);
      jest.spyOn(driver as PostgresDriver, 'obtainMasterConnection').mockRejectedValueOnce(refused);
      const waits = passAtOnce(1, () => undefined);
      expect(await createPet(api, REX)).toMatchObject({ id: 1n });
      expect(waits.count).toBe(1);
    });

    it.each([
      ['is lost', () => Promise.reject(new TypeError('fetch failed')), 0.3],
      ['is a 503', () => Promise.resolve(new Response('{}', { status: 503, headers: { 'retry-after': '7' } })), 7],
      ['is the 502 of a gateway', () => Promise.resolve(new Response('Bad Gateway', { status: 502 })), 0.3],
    ])('when the answer to a creation %s, and creates one animal', async (_, otherAnswer, seconds) => {
      const api = await connectAs(1_000);
      const send = fetch;
      jest.spyOn(globalThis, 'fetch').mockImplementationOnce(async (input, init) => {
        expect((await send(input, init)).status).toBe(201);
        return otherAnswer();
      });
      const waits = passAtOnce(seconds, () => undefined);
      const pet = await createPet(api, REX);
      expect(waits.count).toBe(1);
      expect(await storedPets()).toEqual([{ id: String(pet.id) }]);
    });

    it('only a few times, then fails with what the service said last', async () => {
      const api = await connectAs(5);
      for (let count = 0; count < 5; count++) {
        await createPet(api, REX);
      }
      const waits = passAtOnce(60, () => undefined);
      expect(await failure(createPet(api, REX))).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
      expect(waits.count).toBe(4);
    });

    it('not a creation without an Idempotency-Key', async () => {
      const api = await connectAs(1_000);
      const send = jest.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed'));
      await expect(api.POST('/pets', { body: REX })).rejects.toThrow('fetch failed');
      expect(send).toHaveBeenCalledTimes(1);
    });

    it('not when that would take hours', async () => {
      const api = await connectAs(10, 1);
      await createPet(api, REX);
      const error = await failure(createPet(api, REX));
      expect(error.code).toBe('daily_quota_exceeded');
      expect(explain(error)).toBe('That was all for today.');
    });
  });

  it('creates one animal for one idempotency key of the caller', async () => {
    const api = await connectAs(1_000);
    expect(await createPet(api, REX, 'order-17')).toEqual(await createPet(api, REX, 'order-17'));
    expect(await failure(createPet(api, { ...REX, name: 'Mia' }, 'order-17'))).toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect(await storedPets()).toHaveLength(1);
  });

  describe('explains', () => {
    it('an error by its code', async () => {
      const wrongKey = await failure(createPet(connectWith('pets_test_wrong'), REX));
      expect([wrongKey.code, explain(wrongKey)]).toEqual(['invalid_api_key', 'Enter another API key.']);
      const wrongBody = await failure(createPet(await connectAs(10), { ...REX, name: ' ' }));
      expect([wrongBody.code, explain(wrongBody)]).toEqual([
        'invalid_body',
        'Correct the animal: name must not be only white space.',
      ]);
    });

    it.each<[string, unknown, number, string]>([
      ['a code that is new', { code: 'brand_new', message: 'Something new is wrong.' }, 422, 'Something new is wrong.'],
      ['a new code of a server', { code: 'brand_new', message: 'x' }, 507, 'does not work right now (request r-1)'],
      ['no Error at all', '<html>', 400, 'Bad Request'],
      ['an empty answer', undefined, 400, 'Bad Request'],
    ])('%s by the status', (_, body, status, expected) => {
      const headers = { 'x-request-id': 'r-1' };
      const error = new PetStoreError(body, new Response(null, { status, statusText: 'Bad Request', headers }));
      expect([error.code, explain(error)]).toEqual(['unknown', expect.stringContaining(expected)]);
    });

    it('no code that the service does not have', () => {
      expect(ERROR_CATALOG.codes).toEqual(expect.arrayContaining([...CODES]));
    });
  });

  it('prints what its example says', async () => {
    const [log, error] = [jest.spyOn(console, 'log').mockReturnValue(), jest.spyOn(console, 'error').mockReturnValue()];
    const baseUrl = `http://127.0.0.1:${service.port}/v1`;
    await main(baseUrl, await service.createKey());
    expect(log.mock.calls).toEqual([['1 Max 9223372036854775807']]);
    await main(baseUrl, 'wrong');
    expect(error.mock.calls).toEqual([['Enter another API key.']]);
  });

  it('is shown there as it is', async () => {
    const read = (path: string) => readFile(join(__dirname, '../..', path), 'utf8');
    const guide = await read('docs/getting-started.md');
    const shown = [...guide.matchAll(/^<!-- (\S+)(?: (\w+))? -->\n\n```\w+\n([^]*?)^```$/gm)].map(
      ([, path = '', region, code]) => ({ path, region, code }),
    );
    for (const { path, region, code } of shown) {
      const file = await read(path);
      expect({ path, region, code }).toEqual({ path, region, code: region ? regionOf(file, region) : file });
    }
    const regions = [...(await read('test/client/client.ts')).matchAll(/^\/\/ #region (\w+)$/gm)].map(
      ([, name]) => name,
    );
    expect(shown.map(({ region }) => region).filter(Boolean)).toEqual(expect.arrayContaining(regions));
    expect(shown.map(({ path }) => path)).toContain('test/client/generate.mjs');
  });

  const regionOf = (file: string, name: string) =>
    new RegExp(`^// #region ${name}\\n([^]*?)^// #endregion$`, 'm').exec(file)?.[1];

  it('has the types that the OpenAPI document gives (npm run client:types makes them anew)', async () => {
    const generator = execFile(process.execPath, [join(__dirname, 'generate.mjs')]);
    if (generator.stdin === null || generator.stdout === null) {
      throw new Error('The generator has no standard input or output.');
    }
    generator.stdin.end((await service.get('/openapi.json')).text);
    expect(await text(generator.stdout)).toBe(await readFile(join(__dirname, 'petstore.ts'), 'utf8'));
  });
});
