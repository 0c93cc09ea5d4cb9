import { AccountsService, KeysService } from '../../../src/auth';
import { getCode, TestService } from '../../support/service';

describe('The scopes of orders', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  const OPERATIONS = [
    ['GET', '/v1/store/orders'],
    ['GET', '/v1/store/orders/1'],
    ['POST', '/v1/store/orders'],
    ['GET', '/v1/pets'],
    ['POST', '/v1/pets'],
    ['GET', '/v1/rate-limit'],
  ] as const;

  it.each([
    ['orders:read', ['GET /v1/store/orders', 'GET /v1/store/orders/1']],
    ['orders:write', ['GET /v1/store/orders', 'GET /v1/store/orders/1', 'POST /v1/store/orders']],
    ['read', ['GET /v1/store/orders', 'GET /v1/store/orders/1', 'GET /v1/pets', 'GET /v1/rate-limit']],
    ['write', OPERATIONS.map((each) => each.join(' '))],
    ['orders:cancel', []],
    ['read orders:write', OPERATIONS.map((each) => each.join(' ')).filter((each) => each !== 'POST /v1/pets')],
  ])('let a key with %j do just that', async (scope, allowed) => {
    const { id } = await service.app.get(AccountsService).create('Acme', 'business');
    const { secret: key } = await service.app.get(KeysService).create(id, null, scope);
    const done = [];
    for (const [method, path] of OPERATIONS) {
      const response = await service.call(method, path, { key, body: method === 'POST' ? {} : undefined });
      expect(response.headers['ratelimit-policy']).toMatch(/^"minute"/);
      if (getCode(response) === 'insufficient_scope') {
        expect(response.status).toBe(403);
      } else {
        done.push(`${method} ${path}`);
      }
    }
    expect(done).toEqual(allowed);
  });

  it('do not hide that a path or a method does not exist', async () => {
    const { id } = await service.app.get(AccountsService).create('Acme', 'business');
    const { secret: key } = await service.app.get(KeysService).create(id, null, 'orders:read');
    expect((await service.get('/v1/unknown', { key })).status).toBe(404);
    expect((await service.call('DELETE', '/v1/pets', { key })).status).toBe(405);
  });
});
