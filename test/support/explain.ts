import type { DataSource } from 'typeorm';
import type { Statement } from '../../src/shared/persistence/statements';
import { formatBatch } from '../../src/shared/persistence/table-statements';

/** Executes a statement of a table for one item. @returns its last plan, and how often PostgreSQL has made a plan for any values */
export async function explain(dataSource: DataSource, { text }: Statement, item: object) {
  const values = formatBatch([item]);
  return dataSource.transaction(async (manager) => {
    await manager.query(`PREPARE explained (json) AS ${text}`);
    // After five executions PostgreSQL keeps one generic plan, unless it expects custom plans to be cheaper.
    for (let execution = 0; execution < 5; execution++) {
      await manager.query(`EXECUTE explained ('${values}')`);
    }
    const plan = JSON.stringify(await manager.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained ('${values}')`));
    const [prepared] = await manager.query<{ generic_plans: string }[]>(
      `SELECT generic_plans FROM pg_prepared_statements WHERE name = 'explained'`,
    );
    await manager.query('DEALLOCATE explained');
    return {
      nodes: [...plan.matchAll(/"Node Type":"([^"]+)"/g)].map(([, type]) => type),
      index: /"Index Name":"(\w+)"/.exec(plan)?.[1],
      genericPlans: Number(prepared?.generic_plans),
    };
  });
}
