import { DataSource } from 'typeorm';
import { IdempotencyRecords } from '../../src/idempotency/domain/idempotency-records';
import { IdempotencyRecordCleanup } from '../../src/idempotency/idempotency-record-cleanup';
import { type TestResponse, getCode, TestService } from '../support/service';

const REX = { name: 'Rex', categoryId: 3 };

describe('Idempotency-Key on POST /v1/pets', () => {
  let service: TestService;
  let keys: string[];
  let count = 0;

  beforeAll(async () => {
    service = await TestService.start();
    keys = await service.createKeys(2, 'enterprise', { perMinute: 100_000, perDay: 100_000 });
  });
  afterAll(() => service.close());

  const createIdempotencyKey = () => `key-${++count}`;
  const create = (idempotencyKey: string | string[], body: unknown = REX, key = keys[0]): Promise<TestResponse> =>
    service.post('/v1/pets', { key, body, headers: { 'idempotency-key': idempotencyKey } });
  const sql = <T>(text: string, parameters: unknown[] = []): Promise<T> =>
    service.app.get(DataSource).query<T>(text, parameters);
  const countRows = async (table: 'pets' | 'idempotency_records') =>
    Number((await sql<{ count: string }[]>(`SELECT count(*) FROM ${table}`))[0]?.count);
  const age = (key: string, interval: string) =>
    sql(`UPDATE idempotency_records SET created_at = created_at - $2::interval WHERE key = $1`, [key, interval]);

  it('does not let an account wait behind all requests of another', async () => {
    const otherKey = await service.createKey();
    let responses = 0;
    const burst = Array.from({ length: 200 }, async () => {
      await create(createIdempotencyKey());
      responses++;
    });
    expect((await create(createIdempotencyKey(), REX, otherKey)).status).toBe(201);
    expect(responses).toBeLessThan(200);
    expect((await service.post('/v1/pets', { key: otherKey, body: REX })).status).toBe(201);
    await Promise.all(burst);
  });

  it('replays what an older replica stored, which is only the body and Location', async () => {
    const key = createIdempotencyKey();
    const first = await create(key);
    await sql('UPDATE idempotency_records SET status = NULL, headers = NULL WHERE key = $1', [key]);
    const again = await create(key);
    expect([again.status, again.text, again.headers.location]).toEqual([201, first.text, first.headers.location]);
    expect(await sql('SELECT location FROM idempotency_records WHERE key = $1', [key])).toEqual([
      { location: first.headers.location },
    ]);
  });

  it('returns the first response even after the animal has changed, whatever the query and other headers', async () => {
    const key = createIdempotencyKey();
    const first = await create(key);
    await sql(`UPDATE pets SET status = 'sold' WHERE id = $1`, [(first.body as { id: number }).id]);
    const headers = { 'idempotency-key': key, 'x-attempt': '2' };
    const again = await service.post('/v1/pets?attempt=2', { key: keys[0], body: REX, headers });
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, first.text, 'true']);
  });

  it('is the same key with and without quotes, in which quotes and backslashes are escaped', async () => {
    const key = createIdempotencyKey().padEnd(255, '~!"\\');
    const first = await create(key);
    expect(first.status).toBe(201);
    expect((await create(JSON.stringify(key))).text).toBe(first.text);
  });

  it('is shared by the keys of an account, and by no other account', async () => {
    const key = createIdempotencyKey();
    const first = await create(key);
    expect((await create(key, REX, keys[1])).text).toBe(first.text);
    const other = await create(key, REX, await service.createKey());
    expect([other.status, other.headers['idempotent-replayed']]).toEqual([201, undefined]);
    expect(other.text).not.toBe(first.text);
  });

  const malformed = ['', '""', '"', '"a', '"a"b"', '"a\\"', '"a\\b"', '"a";q=1', 'a b', '"a b"', 'a, b', 'a\tb', 'ä'];
  it.each([...malformed, 'a'.repeat(256), `"${'a'.repeat(256)}"`, ['a', 'b']].map((key) => [key]))(
    'returns 400 invalid_idempotency_key for %j, and creates nothing',
    async (key) => {
      const stored = await countRows('pets');
      const response = await create(key);
      expect([response.status, getCode(response)]).toEqual([400, 'invalid_idempotency_key']);
      expect(await countRows('pets')).toBe(stored);
    },
  );

  it('does not store a rejected request: the corrected request is executed', async () => {
    const key = createIdempotencyKey();
    expect(getCode(await create(key, { name: 'Rex' }))).toBe('invalid_body');
    expect(getCode(await create(key, '{'))).toBe('invalid_json');
    const headers = { 'idempotency-key': key, 'content-type': 'text/plain' };
    expect((await service.post('/v1/pets', { key: keys[0], body: REX, headers })).status).toBe(415);
    expect((await create(key)).status).toBe(201);
  });

  it('creates one animal when twenty identical requests arrive at once', async () => {
    const key = createIdempotencyKey();
    const stored = await countRows('pets');
    const responses = await Promise.all(Array.from({ length: 20 }, () => create(key)));
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await countRows('pets')).toBe(stored + 1);
  });

  it('creates one animal when two different bodies arrive at once, and rejects the other', async () => {
    const key = createIdempotencyKey();
    const responses = await Promise.all([create(key), create(key, { ...REX, name: 'Mia' })]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  it('stores the record and the animal, or neither', async () => {
    const key = createIdempotencyKey();
    const [pets, records] = [await countRows('pets'), await countRows('idempotency_records')];
    expect((await service.withConstraint('pets', `name <> 'Rex'`, () => create(key))).status).toBe(500);
    expect([await countRows('pets'), await countRows('idempotency_records')]).toEqual([pets, records]);
    expect((await create(key)).headers['idempotent-replayed']).toBeUndefined();
  });

  it('is ignored by operations that create nothing; without the header, nothing is stored', async () => {
    const records = await countRows('idempotency_records');
    const headers = { 'idempotency-key': 'a b' };
    expect((await service.get('/v1/pets', { key: keys[0], headers })).status).toBe(200);
    expect((await service.post('/v1/pets', { key: keys[0], body: REX })).status).toBe(201);
    expect(await countRows('idempotency_records')).toBe(records);
  });

  it('is remembered for 24 hours and can then be reused', async () => {
    const key = createIdempotencyKey();
    const first = await create(key);
    await age(key, '23 hours 59 minutes');
    expect((await create(key)).text).toBe(first.text);
    await age(key, '1 minute');
    const later = await create(key, { ...REX, name: 'Mia' });
    expect([later.status, later.headers['idempotent-replayed']]).toEqual([201, undefined]);
    expect((await create(key, { ...REX, name: 'Mia' })).text).toBe(later.text);
  });

  it('expires: expired records, and only those, are deleted in batches', async () => {
    const kept = [createIdempotencyKey(), createIdempotencyKey()];
    for (const key of kept) {
      await create(key);
    }
    await sql('DELETE FROM idempotency_records WHERE key <> ALL ($1)', [kept]);
    await sql(
      `INSERT INTO idempotency_records (account_id, key, fingerprint, body, created_at)
       SELECT 1, 'old-' || n, sha256('x'), '{}', now() - interval '24 hours' FROM generate_series(1, 2500) n`,
    );
    expect(await service.app.get(IdempotencyRecords).removeExpired(100)).toBe(100);
    await service.app.get(IdempotencyRecordCleanup).removeExpired();
    expect(await countRows('idempotency_records')).toBe(2);
  });
});
