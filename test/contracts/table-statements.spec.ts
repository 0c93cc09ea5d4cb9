import { DataSource } from 'typeorm';
import { PetSchema } from '../../src/pets/persistence/pet.schema';
import type { Statement } from '../../src/shared/persistence/statements';
import { TableStatements } from '../../src/shared/persistence/table-statements';
import { explain } from '../support/explain';
import { TestService } from '../support/service';

describe('The statements of a table', () => {
  const pets = new TableStatements(PetSchema);
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
    // In batches, because a statement may take at most a second. All animals except the last few have a different status.
    for (const status of [...Array<string>(9).fill('sold'), 'available']) {
      await service.app
        .get(DataSource)
        .query(`INSERT INTO pets (name, category_id, status) SELECT 'Rex', 1, $1 FROM generate_series(1, $2)`, [
          status,
          status === 'sold' ? 2_000 : 100,
        ]);
    }
    await service.app.get(DataSource).query('ANALYZE pets');
  });
  afterAll(() => service.close());

  it.each<[string, Statement, object, string]>([
    ['an animal', pets.getFind([]), { id: 5_000n }, 'pets_pkey'],
    ['a page of animals', pets.getPage([]), { page_after: 5_000n, page_size: 21 }, 'pets_pkey'],
    [
      'a page of one status',
      pets.getPage(['status']),
      { page_after: 5_000n, page_size: 21, status: 'available' },
      'pets_status_id',
    ],
  ])('read %s among many with an index scan, planned once', async (_, statement, item, index) => {
    const plan = await explain(service.app.get(DataSource), statement, item);
    expect(plan.nodes.at(-1)).toBe('Index Scan');
    expect(plan.nodes).not.toContain('Sort');
    expect(plan.index).toBe(index);
    expect(plan.genericPlans).toBeGreaterThan(0);
  });

  it('are refused for a column that the schema does not have', () => {
    expect(() => pets.getPage(['colour'])).toThrow('Pet has no column colour.');
  });
});
