import { PostgresNamingStrategy } from './naming-strategy';

it('Constraints and indexes of tables with long names have different names that fit', () => {
  const [naming, table] = [new PostgresNamingStrategy(), `vaccination_${'x'.repeat(50)}`];
  const names = [
    ...['pet_id', 'account_id'].map((column) => naming.foreignKeyName(table, [column])),
    ...['status', 'started_at'].map((column) => naming.indexName(table, [column])),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^.{63}$/.test(name))).toEqual([]);
  expect(naming.indexName('pets', ['status'])).toBe('pets_status_idx');
});
