import { DataSource } from 'typeorm';
import { AccountsService } from '../../../src/auth';
import { OrderSchema } from '../../../src/orders/persistence/order.schema';
import { TableStatements } from '../../../src/shared/persistence/table-statements';
import { explain } from '../../support/explain';
import { TestService } from '../../support/service';

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
    expect(plan.index).toContain(index);
  });
});
