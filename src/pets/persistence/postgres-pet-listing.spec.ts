import { DataSource } from 'typeorm';
import { SELECT_PAGES, SELECT_PAGES_BY_STATUS } from './postgres-pet-listing';
import { TestService } from '../../../test/support/service';

describe('The statements that list animals', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it.each([
    ['a page', SELECT_PAGES, '[{"number":0,"after":10000,"size":21}]', 'pets_pkey'],
    // All animals except the last few have a different status.
    [
      'a page of one status',
      SELECT_PAGES_BY_STATUS,
      '[{"number":0,"after":10000,"size":21,"filter":"available"}]',
      'pets_status_id',
    ],
  ])('read %s in the middle of many animals with an index scan, planned once', async (...args) => {
    const [, statement, values, index] = args;
    const [plans, generic] = await service.app.get(DataSource).transaction(async (manager) => {
      // In batches, because a statement may take at most a second.
      for (const status of [...Array<string>(9).fill('sold'), 'available']) {
        await manager.query(
          `INSERT INTO pets (name, category_id, status) SELECT 'Rex', 1, $1 FROM generate_series(1, $2)`,
          [status, status === 'sold' ? 2_000 : 100],
        );
      }
      await manager.query('ANALYZE pets');
      await manager.query(`PREPARE page_in_the_middle (json) AS ${statement.text}`);
      // After five executions PostgreSQL keeps one generic plan, unless it expects custom plans to be cheaper.
      for (let execution = 0; execution < 5; execution++) {
        await manager.query(`EXECUTE page_in_the_middle ('${values}')`);
      }
      const plan: unknown = await manager.query(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page_in_the_middle ('${values}')`,
      );
      const generic: unknown = await manager.query(
        `SELECT generic_plans FROM pg_prepared_statements WHERE name = 'page_in_the_middle'`,
      );
      await manager.query('DEALLOCATE page_in_the_middle');
      return [plan, generic];
    });
    const nodes = [...JSON.stringify(plans).matchAll(/"Node Type":"([^"]+)"/g)].map(([, type]) => type);
    expect(nodes).toEqual(['Nested Loop', 'Function Scan', 'Aggregate', 'Limit', 'Limit', 'Index Scan']);
    const text = JSON.stringify(plans);
    expect(text).toContain(`"Index Name":"${index}"`);
    expect(text).toContain('"Actual Rows":21');
    // The plan is generic, made once.
    expect(generic).toEqual([{ generic_plans: expect.stringMatching(/[^0]/) as string }]);
  });
});
