import { DataSource } from 'typeorm';
import { BASE_URL, getCode, TestService } from '../support/service';

describe('GET /v1/pets', () => {
  let service: TestService;
  let key: string;

  beforeAll(async () => {
    service = await TestService.start();
    key = await service.createKey('enterprise', { perMinute: 100_000, perDay: 100_000 });
    await service.app.get(DataSource).query(
      `INSERT INTO pets (name, category_id, status)
       SELECT 'Pet ' || n, n, (ARRAY['available', 'pending', 'sold'])[1 + n % 3] FROM generate_series(1, 250) AS n`,
    );
  });
  afterAll(() => service.close());

  const list = (query = '') => service.get(`/v1/pets${query}`, { key });
  const getIds = (body: unknown) => (body as { id: number }[]).map(({ id }) => id);
  const createRange = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

  describe('200', () => {
    it('lists the first 20 animals by ascending id if limit is omitted', async () => {
      const response = await list();
      expect(response.status).toBe(200);
      expect(getIds(response.body)).toEqual(createRange(1, 20));
      expect((response.body as unknown[])[0]).toEqual({ id: 1, name: 'Pet 1', categoryId: 1, status: 'pending' });
    });

    it.each([1, 7, 99, 100])('lists at most limit=%d animals', async (limit) => {
      expect(getIds((await list(`?limit=${limit}`)).body)).toEqual(createRange(1, limit));
    });

    it.each(['available', 'pending', 'sold'])('lists only animals with the status %s', async (status) => {
      const { body } = await list(`?status=${status}&limit=100`);
      expect(body).toHaveLength(status === 'available' ? 83 : status === 'pending' ? 84 : 83);
      expect(new Set((body as { status: string }[]).map((pet) => pet.status))).toEqual(new Set([status]));
    });

    it('has the URL of the next page in Link, under the configured base URL whatever Host is', async () => {
      const { headers } = await service.get('/v1/pets?limit=5&status=sold', { key, headers: { host: 'evil.example' } });
      expect(headers.link).toMatch(
        /^<https:\/\/api\.example\.com\/v1\/pets\?limit=5&status=sold&cursor=[\w-]{16}>; rel="next"$/,
      );
    });

    it('has no Link on the last page, even if it is full', async () => {
      expect((await list('?limit=83&status=sold')).headers.link).toBeUndefined();
    });

    it.each(['', '&status=sold'])(
      'lists every animal exactly once by following Link, while animals are added (filter "%s")',
      async (filter) => {
        const expected = getIds((await list(`?limit=100${filter}`)).body);
        const seen: number[] = [];
        let next: string | undefined = `/v1/pets?limit=7${filter}`;
        while (next !== undefined) {
          const response = await service.get(next, { key });
          seen.push(...getIds(response.body));
          await service.post('/v1/pets', { key, body: { name: 'Late', categoryId: 1, status: 'sold' } });
          next = seen.length > 400 ? undefined : parseNextPath(response.headers.link);
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.slice(0, expected.length)).toEqual(expected);
      },
    );

    it('ignores unknown query parameters', async () => {
      expect((await list('?limit=2&offset=50&page=9')).body).toHaveLength(2);
    });
  });

  describe('400', () => {
    it.each([
      ...['0', '101', '-1', '1.5', '1e1', '%2B5', '+5', 'abc', '', '05', ' 5', '0x10', '%D9%A5', '1000'],
      '9999999999999999999',
    ])('rejects limit=%s instead of clamping it', async (limit) => {
      const response = await list(`?limit=${limit.replace(' ', '%20')}`);
      expect([response.status, getCode(response)]).toEqual([400, 'invalid_parameter']);
      expect((response.body as { message: string }).message).toContain('limit must be an integer from 1 to 100');
    });

    it.each([
      ...['limit=5&limit=5', 'status=sold&status=sold', 'status=Sold', 'status=', 'status=lost'],
      'status[]=sold&status=',
    ])('rejects %s', async (query) => {
      const response = await list(`?${query}`);
      expect([response.status, getCode(response)]).toEqual([400, 'invalid_parameter']);
    });

    it.each(['', 'x', 'AAAAAAAAAAAAAAAA', '____________________', '1'])('rejects the cursor "%s"', async (cursor) => {
      const response = await list(`?cursor=${cursor}`);
      expect([response.status, getCode(response)]).toEqual([400, 'invalid_cursor']);
    });

    it('rejects a cursor of another status filter, and one given twice', async () => {
      const cursor = /cursor=([\w-]+)/.exec((await list('?limit=1&status=sold')).headers.link ?? '')?.[1] ?? '';
      expect((await list(`?status=sold&cursor=${cursor}`)).status).toBe(200);
      for (const query of [
        `cursor=${cursor}`,
        `status=pending&cursor=${cursor}`,
        `status=sold&cursor=${cursor}&cursor=${cursor}`,
      ]) {
        expect(getCode(await list(`?${query}`))).toBe('invalid_cursor');
      }
    });
  });

  function parseNextPath(link: string | undefined): string | undefined {
    return link && /<([^>]+)>; rel="next"/.exec(link)?.[1]?.replace(BASE_URL, '/v1');
  }
});
