import { DataSource } from 'typeorm';
import { AccountsService } from '../../src/auth';
import { OrderSchema } from '../../src/orders/persistence/order.schema';
import { PetSchema } from '../../src/pets/persistence/pet.schema';
import type { Statement } from '../../src/shared/persistence/statements';
import { formatBatch, TableStatements } from '../../src/shared/persistence/table-statements';
import { TestService } from '../support/service';

describe('The statements of a table', () => {
  const [pets, orders] = [new TableStatements(PetSchema), new TableStatements(OrderSchema)];
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
    const dataSource = service.app.get(DataSource);
    await service.app.get(AccountsService).create('Test', 'free');
    // In batches, because a statement may take at most a second. All animals except the last few have a different status.
    for (const status of [...Array<string>(9).fill('sold'), 'available']) {
      await dataSource.query(
        `INSERT INTO pets (name, category_id, status) SELECT 'Rex', 1, $1 FROM generate_series(1, $2)`,
        [status, status === 'sold' ? 2_000 : 100],
      );
    }
    for (const status of [...Array<string>(5).fill('placed'), 'delivered']) {
      await dataSource.query(
        `INSERT INTO orders (account_id, pet_id, quantity, status, placed_at)
         SELECT 1, i, 1, $1, now() FROM generate_series(1, $2) AS i`,
        [status, status === 'placed' ? 2_000 : 100],
      );
    }
    await dataSource.query('ANALYZE pets; ANALYZE orders');
  });
  afterAll(() => service.close());

  const inTheMiddle = { page_after: 5_000n, page_size: 21 };
  it.each<[string, Statement, object, string]>([
    ['an animal', pets.find, { id: 5_000n }, 'pets_pkey'],
    ['a page of animals', pets.getPage([]), inTheMiddle, 'pets_pkey'],
    ['a page of one status', pets.getPage(['status']), { ...inTheMiddle, status: 'available' }, 'pets_status_id'],
    ['a page of orders', orders.getPage(['accountId']), { ...inTheMiddle, accountId: 1n }, 'orders_account_id'],
    [
      'a page of orders of one status',
      orders.getPage(['accountId', 'status']),
      { ...inTheMiddle, accountId: 1n, status: 'delivered' },
      'orders_account_id_status',
    ],
    [
      'a page of orders for one animal',
      orders.getPage(['accountId', 'petId']),
      { page_after: 0n, page_size: 21, accountId: 1n, petId: 50n },
      'orders_account_id_pet_id',
    ],
  ])('read %s among many with an index scan, planned once', async (...args) => {
    const [, statement, item, index] = args;
    const values = formatBatch([item]);
    const [plans, generic] = await service.app.get(DataSource).transaction(async (manager) => {
      await manager.query(`PREPARE among_many (json) AS ${statement.text}`);
      // After five executions PostgreSQL keeps one generic plan, unless it expects custom plans to be cheaper.
      for (let execution = 0; execution < 5; execution++) {
        await manager.query(`EXECUTE among_many ('${values}')`);
      }
      const plan: unknown = await manager.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE among_many ('${values}')`);
      const plansMade: unknown = await manager.query(
        `SELECT generic_plans FROM pg_prepared_statements WHERE name = 'among_many'`,
      );
      await manager.query('DEALLOCATE among_many');
      return [plan, plansMade];
    });
    const text = JSON.stringify(plans);
    expect([...text.matchAll(/"Node Type":"([^"]+)"/g)].map(([, type]) => type).at(-1)).toBe('Index Scan');
    expect(text).not.toMatch(/"Sort"|"Seq Scan"/);
    expect(text).toContain(`"Index Name":"${index}"`);
    // The plan is generic, made once.
    expect(generic).toEqual([{ generic_plans: expect.stringMatching(/[^0]/) as string }]);
  });

  it('are refused for a column that the schema does not have', () => {
    expect(() => pets.getPage(['colour'])).toThrow('Pet has no column colour.');
  });
});
