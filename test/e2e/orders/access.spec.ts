import { AccountsService, KeysService } from '../../../src/auth';
import { type TestResponse, BASE_URL, getCode, TestService } from '../../support/service';
import { Customer, getIds, type Order } from './support';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.close());

describe('The orders of another account', () => {
  let owner: Customer;
  let attacker: Customer;
  let order: Order;

  beforeAll(async () => {
    [owner, attacker] = [await Customer.create(service), await Customer.create(service)];
    for (let count = 0; count < 5; count++) {
      order = await owner.placeOne();
    }
  });

  /** Removes the headers that differ between identical requests. */
  const removeVolatileHeaders = ({ status, headers, text }: TestResponse) => {
    const stable = Object.entries(headers).filter(
      ([name]) => !/^(date|x-request-id|x-ratelimit-.+|ratelimit)$/.test(name),
    );
    return { status, text, headers: Object.fromEntries(stable) };
  };

  it('return 404, byte for byte like an order that does not exist', async () => {
    const [another, none] = [await attacker.get(order.id), await attacker.get(999_999)];
    expect([another.status, getCode(another)]).toEqual([404, 'order_not_found']);
    expect(removeVolatileHeaders(another)).toEqual(removeVolatileHeaders(none));
    expect((await owner.get(order.id)).status).toBe(200);
  });

  it.each([
    ...['0', '-1', '01', '+1', '1.0', '1e0', '0x1', 'abc', '%31%20', '1,2'],
    ...['9223372036854775807', '9223372036854775808'],
    ...['null', 'undefined', '*', '%2e%2e%2f1', "1'%20OR%20'1'='1"],
  ])('404 order_not_found: %s is not the ID of an order', async (orderId) => {
    for (const customer of [owner, attacker]) {
      expect(getCode(await customer.get(orderId))).toBe('order_not_found');
    }
  });

  it('are in no list, whatever the filter', async () => {
    for (const query of [
      '',
      '?limit=100',
      '?status=placed',
      `?petId=${order.petId}`,
      `?petId=${order.petId}&status=placed`,
      '?accountId=1',
      '?account_id=1&account=1',
      `?orderId=${order.id}&id=${order.id}`,
    ]) {
      const response = await attacker.list(query);
      expect([query, response.status, response.text, response.headers.link]).toEqual([query, 200, '[]', undefined]);
    }
  });

  it('are not listed with a cursor of their account: the cursor continues the list of the caller', async () => {
    const own = await attacker.placeOne();
    const { link = '' } = (await owner.list('?limit=1')).headers;
    const path = /<([^>]+)>/.exec(link)?.[1]?.replace(`${BASE_URL}/store/orders`, '');
    expect(path).toBeDefined();
    expect(getIds(await attacker.list(path))).toEqual([own.id]);
  });

  it('cannot be created by naming the account in the body, the query or a header', async () => {
    const before = (await owner.list('?limit=100')).text;
    const petId = await attacker.addPet();
    const response = await service.post('/v1/store/orders?accountId=1', {
      key: attacker.key,
      body: { petId, accountId: 1, account_id: 1, account: { id: 1 } },
      headers: { 'x-account-id': '1' },
    });
    expect(response.status).toBe(201);
    expect((await owner.list('?limit=100')).text).toBe(before);
    expect((await attacker.get((response.body as Order).id)).status).toBe(200);
  });

  it('are not returned for the Idempotency-Key and the body they were placed with', async () => {
    const headers = { 'idempotency-key': 'guessed' };
    const body = { petId: await owner.addPet() };
    expect((await owner.place(body, headers)).status).toBe(201);
    const stolen = await attacker.place(body, headers);
    expect([getCode(stolen), stolen.headers['idempotent-replayed']]).toEqual(['pet_not_available', undefined]);
  });

  it('reveal nothing when their animal is ordered again', async () => {
    const response = await attacker.place({ petId: order.petId });
    expect(response.text).toBe(
      '{"code":"pet_not_available","message":"The animal is no longer available.","status":409}',
    );
  });

  it('are visible to every key of their own account', async () => {
    const [first = '', second = ''] = await service.createKeys(2);
    const petId = await owner.addPet();
    const { id } = (await service.post('/v1/store/orders', { key: first, body: { petId } })).body as Order;
    expect((await service.get(`/v1/store/orders/${id}`, { key: second })).status).toBe(200);
    await expect(service.get(`/v1/store/orders/${id}`)).resolves.toMatchObject({ status: 401 });
  });
});

describe('The scopes of orders', () => {
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
