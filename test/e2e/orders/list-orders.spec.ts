import { DataSource } from 'typeorm';
import { AccountsService } from '../../../src/auth';
import { IDENTIFIER } from '../../../src/config/brand';
import { OrderSchema } from '../../../src/orders/persistence/order.schema';
import { PetSchema } from '../../../src/pets/persistence/pet.schema';
import { TableStatements } from '../../../src/shared/persistence/table-statements';
import { explain } from '../../support/explain';
import { BASE_URL, getCode, TestService } from '../../support/service';
import { Customer, getIds, type Order } from './support';

describe('GET /v1/store/orders', () => {
  let service: TestService;
  let customer: Customer;

  beforeAll(async () => {
    service = await TestService.start();
    customer = await Customer.create(service);
    // Every second order belongs to another account.
    await Customer.create(service);
    await service.app.get(DataSource).query(
      `INSERT INTO pets (name, category_id, status) SELECT 'Pet ' || n, n, 'pending' FROM generate_series(1, 10) AS n;
       INSERT INTO orders (account_id, pet_id, quantity, status, placed_at)
       SELECT 1 + n % 2, 1 + n % 10, 1, (ARRAY['placed', 'approved', 'delivered'])[1 + n % 3], now()
       FROM generate_series(1, 500) AS n`,
    );
  });
  afterAll(() => service.close());

  const OWN = Array.from({ length: 250 }, (_, index) => 2 * (index + 1));
  const parseNextPath = (link: string | undefined) =>
    link && /<([^>]+)>; rel="next"/.exec(link)?.[1]?.replace(BASE_URL, '');
  const listAllPages = async (query: string) => {
    const seen: number[] = [];
    for (let next: string | undefined = query; next !== undefined && seen.length <= 500;) {
      const response = await customer.list(next);
      expect(response.status).toBe(200);
      seen.push(...getIds(response));
      next = parseNextPath(response.headers.link)?.replace('/store/orders', '');
    }
    return seen;
  };

  it("lists the account's first 20 orders by ascending id if limit is omitted", async () => {
    expect(getIds(await customer.list())).toEqual(OWN.slice(0, 20));
  });

  it.each([
    ['', OWN],
    ['&status=placed', OWN.filter((id) => id % 3 === 0)],
    ['&status=delivered', OWN.filter((id) => id % 3 === 2)],
    ['&petId=7', OWN.filter((id) => id % 10 === 6)],
    ['&status=approved&petId=7', OWN.filter((id) => id % 3 === 1 && id % 10 === 6)],
    ['&petId=2', []],
    ['&petId=9223372036854775807', []],
  ])('lists every order of the filter "%s" exactly once by following Link', async (filter, expected) => {
    expect(await listAllPages(`?limit=7${filter}`)).toEqual(expected);
  });

  it('has the URL of the next page in Link with the current filters, and none on the last page', async () => {
    expect((await customer.list('?limit=1&petId=7&status=placed')).headers.link).toMatch(
      /^<https:\/\/api\.example\.com\/v1\/store\/orders\?limit=1&status=placed&petId=7&cursor=[\w-]{16}>; rel="next"$/,
    );
    expect((await customer.list('?limit=50&petId=7')).headers.link).toBeUndefined();
  });

  it('shows a date that somebody set to infinity in the database as the latest date', async () => {
    await service.app.get(DataSource).query(`UPDATE orders SET ship_date = 'infinity' WHERE id = $1`, [OWN[0]]);
    expect((await customer.list('?limit=1')).body).toMatchObject([{ shipDate: '9999-12-31T23:59:59.999Z' }]);
  });

  it.each([
    ...['limit=0', 'limit=101', 'limit=1.0', 'limit=', 'limit=5&limit=5'],
    ...['status=', 'status=Placed', 'status=available', 'status=placed&status=placed'],
    'status[]=placed&status=placed,',
    ...['petId=', 'petId=0', 'petId=-1', 'petId=01', 'petId=1.0', 'petId=1e0', 'petId=%2B1', 'petId=abc', 'petId=0x1'],
    ...['petId=9223372036854775808', 'petId=1&petId=1', 'petId=%201', 'petId=null'],
  ])('400 invalid_parameter: %s', async (query) => {
    const response = await customer.list(`?${query}`);
    expect([response.status, getCode(response)]).toEqual([400, 'invalid_parameter']);
    expect((response.body as { message: string }).message).toMatch(
      new RegExp(`^${query.split(/[=[]/, 1)[0] ?? ''} must be`),
    );
  });

  it('shows changes made by an operator', async () => {
    const { id } = await customer.placeOne();
    await service.app.get(DataSource).query(`UPDATE orders SET status = 'delivered' WHERE id = $1`, [id]);
    expect(((await customer.get(id)).body as Order).status).toBe('delivered');
  });

  it('returns 500, not 503, and logs the cause if a column is missing', async () => {
    const lines: string[] = [];
    const broken = await TestService.start({ LOG_LEVEL: 'error' }, { write: (line) => lines.push(line) });
    await broken.queryAsAdmin('ALTER TABLE orders RENAME COLUMN quantity TO amount');
    const response = await (await Customer.create(broken)).list();
    await broken.queryAsAdmin('ALTER TABLE orders RENAME COLUMN amount TO quantity');
    await broken.close();
    expect([response.status, getCode(response)]).toEqual([500, 'internal_error']);
    expect(lines.join('')).toContain('column entity.quantity does not exist');
  });
});

describe('The statements that list orders', () => {
  const orders = new TableStatements(OrderSchema);
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
    await service.app.get(AccountsService).create('Test', 'free');
    const dataSource = service.app.get(DataSource);
    await dataSource.query(
      `INSERT INTO pets (name, category_id, status) SELECT 'Rex', 1, 'sold' FROM generate_series(1, 2000)`,
    );
    // In batches, because a statement may take at most a second.
    for (const status of [...Array<string>(5).fill('placed'), 'delivered']) {
      await dataSource.query(
        `INSERT INTO orders (account_id, pet_id, quantity, status, placed_at)
         SELECT 1, i, 1, $1, now() FROM generate_series(1, $2) AS i`,
        [status, status === 'placed' ? 2_000 : 100],
      );
    }
    await dataSource.query('ANALYZE orders');
  });
  afterAll(() => service.close());

  it.each([
    [{ accountId: 1n }, 'orders_account_id'],
    [{ accountId: 1n, status: 'delivered' }, 'orders_account_id_status'],
    [{ accountId: 1n, petId: 50n }, 'orders_account_id_pet_id'],
  ])('read those with %o among many with an index scan', async (filters, index) => {
    const item = { ...filters, page_after: 100n, page_size: 21 };
    const plan = await explain(service.app.get(DataSource), orders.getPage(Object.keys(filters)), item);
    expect(plan.nodes.at(-1)).toBe('Index Scan');
    expect(plan.nodes).not.toContain('Sort');
    expect(plan.index).toBe(index);
  });
});

describe('A status that a newer version of the service stored', () => {
  let service: TestService;
  let customer: Customer;
  const lines: string[] = [];

  beforeAll(async () => {
    service = await TestService.start(
      { APP_ENV: 'production', LOG_LEVEL: 'warn' },
      { write: (line) => lines.push(line) },
    );
    customer = await Customer.create(service);
  });
  afterAll(() => service.close());

  /** Sets the status without the constraint, which a newer version would change. */
  const setStatus = async (table: 'orders' | 'pets', id: number, status: string, work: () => Promise<void>) => {
    const name = `${table}_status_check`;
    const { checks = [] } = (table === 'orders' ? OrderSchema : PetSchema).options;
    await service.queryAsAdmin(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    await service.queryAsAdmin(`UPDATE ${table} SET status = $1 WHERE id = $2`, [status, id]);
    await work();
    await service.queryAsAdmin('TRUNCATE pets CASCADE');
    const expression = checks.find((check) => check.name === name)?.expression ?? '';
    await service.queryAsAdmin(`ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (${expression})`);
  };

  it('costs only the order that has it: lists leave it out, its own URL is 503, and the log says why', async () => {
    const [first, second, third] = [await customer.placeOne(), await customer.placeOne(), await customer.placeOne()];
    await setStatus('orders', second.id, 'returned', async () => {
      expect(getIds(await customer.list())).toEqual([first.id, third.id]);
      const page = await customer.list('?limit=2');
      expect(getIds(page)).toEqual([first.id]);
      expect(page.headers.link).toContain('rel="next"');
      const response = await customer.get(second.id);
      expect([response.status, getCode(response)]).toEqual([503, 'service_unavailable']);
      expect(response.headers['retry-after']).toBe('1');
      expect((await customer.get(third.id)).status).toBe(200);
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { 'event.action': 'unknown_value', [IDENTIFIER]: { record: `order ${second.id}`, status: 'returned' } },
        { 'event.action': 'service_unavailable' },
      ]);
    });
  });

  it('makes an animal unavailable for orders', async () => {
    const id = await customer.addPet();
    await setStatus('pets', id, 'reserved', async () => {
      expect(getCode(await customer.place({ petId: id }))).toBe('pet_not_available');
    });
  });
});
