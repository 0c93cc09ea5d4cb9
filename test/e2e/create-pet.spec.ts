import fc from 'fast-check';
import { BASE_URL, getCode, TestService } from '../support/service';

describe('POST /v1/pets', () => {
  let service: TestService;
  let key: string;

  beforeAll(async () => {
    service = await TestService.start();
    key = await service.createKey('enterprise', { perMinute: 100_000, perDay: 100_000 });
  });
  afterAll(() => service.close());

  const create = (body: unknown) => service.post('/v1/pets', { key, body });
  const getMessage = (response: { body: unknown }) => (response.body as { message: string }).message;

  describe('201', () => {
    it('returns the stored animal with its ID, and its URL', async () => {
      const response = await create({ name: 'Rex', categoryId: 3, status: 'pending' });
      const { id } = response.body as { id: number };
      expect(response.status).toBe(201);
      expect(response.body).toEqual({ id, name: 'Rex', categoryId: 3, status: 'pending' });
      expect(response.headers.location).toBe(`${BASE_URL}/pets/${id}`);
      expect((await service.get(`/v1/pets/${id}`, { key })).body).toEqual(response.body);
    });

    it('makes an animal available if status is omitted', async () => {
      expect((await create({ name: 'Rex', categoryId: 3 })).body).toMatchObject({ status: 'available' });
    });

    it('assigns the ID itself, and stores no unknown field', async () => {
      const response = await create({
        id: 1_000_000,
        name: 'Rex',
        categoryId: 3,
        colour: 'red',
        __proto__: { status: 'sold' },
      });
      expect(Object.keys(response.body as object)).toEqual(['id', 'name', 'categoryId', 'status']);
      expect((response.body as { id: number }).id).toBeLessThan(1_000);
    });

    it.each([
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      ['9007199254740993', '9007199254740993'],
      ['9223372036854775807.0', '9223372036854775807'],
      ['5.0', '5'],
      ['5e0', '5'],
      ['1.23456789012345678e17', '123456789012345678'],
      ['1.5e3', '1500'],
      ['-0', '0'],
      ['0', '0'],
    ])('stores categoryId %s and returns the digits %s', async (sent, digits) => {
      const response = await create(`{"name":"Rex","categoryId":${sent}}`);
      expect(response.status).toBe(201);
      expect(response.text).toContain(`"categoryId":${digits},`);
      const { id } = response.body as { id: number };
      expect((await service.get(`/v1/pets/${id}`, { key })).text).toContain(`"categoryId":${digits},`);
    });

    it('preserves any int64 exactly, from the JSON text to the database and back', async () => {
      await fc.assert(
        fc.asyncProperty(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), async (categoryId) => {
          const response = await create(`{"name":"Rex","categoryId":${categoryId}}`);
          expect(response.text).toContain(`"categoryId":${categoryId},`);
        }),
        { numRuns: 50 },
      );
    });

    it.each([
      ...['x', 'v', ' Rex ', 'Ünïcödé 🐕', '\u00a0x', "Robert'); DROP TABLE pets;--", '\ufeffRex', '12'],
      ...['🐕'.repeat(255), 'a'.repeat(255)],
    ])('stores the name %j as sent', async (name) => {
      const response = await create({ name, categoryId: 1 });
      expect([response.status, (response.body as { name: string }).name]).toEqual([201, name]);
    });

    it('accepts every spelling of application/json in utf-8, and a chunked body', async () => {
      for (const type of [
        'application/json; charset=utf-8',
        'Application/JSON;charset="UTF-8"',
        'application/json ;x=y',
      ]) {
        const response = await service.post('/v1/pets', {
          key,
          body: { name: 'Rex', categoryId: 1 },
          headers: { 'content-type': type, 'content-encoding': 'Identity' },
        });
        expect(response.status).toBe(201);
      }
      const body = '{"name":"Rex","categoryId":1}';
      const chunked = await service.sendRaw(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
          `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      );
      expect(chunked).toContain('HTTP/1.1 201 Created');
    });
  });

  describe('400', () => {
    it.each<[object, string]>([
      [{}, 'name is required; categoryId is required.'],
      [{ name: 'Rex' }, 'categoryId is required.'],
      [{ categoryId: 1 }, 'name is required.'],
      [{ name: null, categoryId: 1 }, 'name must be a string.'],
      [{ name: 5, categoryId: 1 }, 'name must be a string.'],
      [{ name: ['Rex'], categoryId: 1 }, 'name must be a string.'],
      [{ name: '', categoryId: 1 }, 'name must be 1 to 255 characters long.'],
      [{ name: 'a'.repeat(256), categoryId: 1 }, 'name must be 1 to 255 characters long.'],
      [{ name: '🐕'.repeat(256), categoryId: 1 }, 'name must be 1 to 255 characters long.'],
      [{ name: ' \t\n\u00a0\u2003', categoryId: 1 }, 'name must not be only whitespace.'],
      [{ name: 'a\0b', categoryId: 1 }, 'name must not contain NUL or a lone surrogate.'],
      [{ name: 'a\ud800b', categoryId: 1 }, 'name must not contain NUL or a lone surrogate.'],
      [{ name: 'Rex', categoryId: 1, status: 'lost' }, 'status must be one of available, pending, sold.'],
      [{ name: 'Rex', categoryId: 1, status: null }, 'status must be one of available, pending, sold.'],
      [{ name: 'Rex', categoryId: 1, status: ['sold'] }, 'status must be one of available, pending, sold.'],
    ])('rejects %j, naming the field', async (body, message) => {
      const response = await create(body);
      expect([response.status, getCode(response), getMessage(response)]).toEqual([400, 'invalid_body', message]);
    });

    it.each([
      ...['9223372036854775808', '-9223372036854775809', '9223372036854775807.5', '1e19', '1e999999999'],
      ...['5.5', '5.00000000000000000001', '0.1e-400', '"5"', 'true', 'null', '[]', '{}'],
    ])('rejects categoryId %s', async (categoryId) => {
      const response = await create(`{"name":"Rex","categoryId":${categoryId}}`);
      expect([response.status, getMessage(response)]).toEqual([
        400,
        'categoryId must be an integer from -9223372036854775808 to 9223372036854775807.',
      ]);
    });

    it.each([
      ...['', '   ', '{', '{"name":"Rex",}', "{'name':1}", 'nope', '[]', 'null', '5', '"text"', '{"a":01}', '\ufeff'],
      '['.repeat(60_000),
    ])('rejects the body %#, which is not a JSON object', async (body) => {
      const response = await create(body);
      expect([response.status, getCode(response)]).toEqual([400, 'invalid_json']);
    });

    it.each(['', '2e'])('limits nesting to 64 levels, whatever else the body contains (note %j)', async (note) => {
      const nest = (levels: number) => '['.repeat(levels - 1) + ']'.repeat(levels - 1);
      const createNested = (levels: number) =>
        create(`{"name":"Rex","categoryId":1,"note":"${note}","x":${nest(levels)}}`);
      expect((await createNested(64)).status).toBe(201);
      for (const levels of [65, 7_000]) {
        expect((await createNested(levels)).body).toEqual({
          ...{ code: 'invalid_json', status: 400 },
          message: 'The body must not nest arrays and objects more than 64 levels deep.',
        });
      }
    });

    it('rejects bytes that are not UTF-8', async () => {
      const response = await service.sendRaw(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n"\xff"`,
      );
      expect(response).toContain('"code":"invalid_json"');
    });

    it('rejects a request without a body', async () => {
      expect(getCode(await service.post('/v1/pets', { key }))).toBe('invalid_json');
    });
  });

  describe('413', () => {
    const createBody = (bytes: number) => `{"name":"Rex","categoryId":1,"x":"${'a'.repeat(bytes - 36)}"}`.padEnd(bytes);

    it('accepts 65536 bytes and rejects 65537', async () => {
      expect((await create(createBody(65_536))).status).toBe(201);
      const response = await create(createBody(65_537));
      expect([response.status, getCode(response)]).toEqual([413, 'body_too_large']);
    });

    it('rejects a chunked body as soon as it is too large', async () => {
      const chunk = `${(70_000).toString(16)}\r\n${'a'.repeat(70_000)}\r\n`;
      const response = await service.sendRaw(
        `POST /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`,
      );
      expect(response).toContain('HTTP/1.1 413');
      expect(response).toContain('"code":"body_too_large"');
    });

    it('leaves the connection to the next request', async () => {
      const headers = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
      const chunk = `${(300_000).toString(16)}\r\n${'a'.repeat(300_000)}\r\n0\r\n\r\n`;
      const response = await service.sendRaw(
        `POST /v1/pets HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n${chunk}` +
          `GET /v1/pets HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`,
      );
      expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
    });
  });

  describe('415', () => {
    it.each([
      ...['text/plain', 'application/xml', 'application/jsonx', 'application/merge-patch+json', 'garbage'],
      ...['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'],
      ...['latin1', 'utf-8; charset=latin1'].map((charset) => `application/json; charset=${charset}`),
      'application/json; charset = latin1',
    ])('rejects the media type %s', async (type) => {
      const response = await service.post('/v1/pets', {
        key,
        body: { name: 'Rex', categoryId: 1 },
        headers: { 'content-type': type },
      });
      expect([response.status, getCode(response)]).toEqual([415, 'unsupported_media_type']);
    });

    it('rejects a compressed body', async () => {
      const response = await service.post('/v1/pets', { key, body: '{}', headers: { 'content-encoding': 'gzip' } });
      expect(response.status).toBe(415);
    });
  });
});
