import { DataSource } from 'typeorm';
import { SELECT_PAGE, SELECT_PAGE_BY_STATUS } from './postgres-pet-listing';
import { TestService } from '../../../test/support/service';

describe('The statements that list animals', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it.each([
    ['a page', SELECT_PAGE, 'bigint, int', '10000, 21', 'pets_pkey'],
    // All animals except the last few have a different status.
    ['a page of one status', SELECT_PAGE_BY_STATUS, 'bigint, int, text', "10000, 21, 'available'", 'pets_status_id'],
  ])('read %s in the middle of many animals with an index scan, planned once', async (...args) => {
    const [, { text }, types, values, index] = args;
    const plans: unknown = await service.app.get(DataSource).transaction(async (manager) => {
      // In batches, because a statement may take at most a second.
      for (const status of [...Array<string>(9).fill('sold'), 'available']) {
        await manager.query(
          `INSERT INTO pets (name, category_id, status) SELECT 'Rex', 1, $1 FROM generate_series(1, $2)`,
          [status, status === 'sold' ? 2_000 : 100],
        );
      }
      await manager.query('ANALYZE pets');
      await manager.query(`PREPARE page_in_the_middle (${types}) AS ${text}`);
      // After five executions PostgreSQL keeps one generic plan, unless it expects custom plans to be cheaper.
      for (let execution = 0; execution < 5; execution++) {
        await manager.query(`EXECUTE page_in_the_middle (${values})`);
      }
      const plan: unknown = await manager.query(
        `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page_in_the_middle (${values})`,
      );
      await manager.query('DEALLOCATE page_in_the_middle');
      return plan;
    });
    const nodes = [...JSON.stringify(plans).matchAll(/"Node Type":"([^"]+)"/g)].map(([, type]) => type);
    expect(nodes).toEqual(['Aggregate', 'Limit', 'Limit', 'Index Scan']);
    expect(plans).toMatchObject([
      { 'QUERY PLAN': [{ Plan: { Plans: [{ Plans: [{ Plans: [{ 'Index Name': index, 'Actual Rows': 21 }] }] }] } }] },
    ]);
    // The plan is generic, made once.
    expect(JSON.stringify(plans)).toMatch(/"Index Cond":"[^"]*\$1/);
  });
});
