import { DataSource, EntitySchema } from 'typeorm';
import { TypeOrmAccountRepository } from '../../src/auth/persistence/typeorm-account.repository';
import { loadSettings } from '../../src/config/settings';
import { migrate } from '../../src/shared/persistence/migrate';
import { TypeOrmUnitOfWork } from '../../src/shared/persistence/typeorm-unit-of-work';
import { createTypeOrmConfig } from '../../src/typeorm.config';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const SCRATCH = 'made_from_schemas';

describe('The entity schemas', () => {
  const settings = loadSettings({ DATABASE_URL: ADMIN_DATABASE_URL });
  const config = createTypeOrmConfig(settings);
  let migrated: DataSource;

  beforeAll(async () => {
    migrated = await new DataSource(config).initialize();
  });
  afterAll(() => migrated.destroy());

  it('match a migrated database: TypeORM generates no change, and drops no table without a schema', async () => {
    const { upQueries } = await migrated.driver.createSchemaBuilder().log();
    expect(upQueries).toEqual([]);
    await expect(migrated.query('SELECT FROM audit_entries, idempotency_records')).resolves.toBeDefined();
  });

  it('define exactly the same columns, constraints and indexes as the migrations', async () => {
    await migrated.query(`CREATE SCHEMA ${SCRATCH}`);
    const made = new DataSource({ ...config, schema: SCRATCH, synchronize: true });
    try {
      await made.initialize();
      const described = await describeTables(made, SCRATCH);
      expect(described.length).toBeGreaterThan(made.entityMetadatas.length);
      expect(described).toEqual(await describeTables(migrated, 'public'));
    } finally {
      await (made.isInitialized && made.destroy());
      await migrated.query(`DROP SCHEMA ${SCRATCH} CASCADE`);
    }
  });

  it('prevent startup if the schema of a stored class is missing', () => {
    const unitOfWork = new TypeOrmUnitOfWork(new DataSource({ ...config, entities: [] }), settings);
    expect(() => new TypeOrmAccountRepository(unitOfWork)).toThrow(
      'No schema of Account is listed in the index.ts of a module.',
    );
  });

  it('prevent startup with the names of columns that no migration creates, unless the service never uses them', async () => {
    const schema = new EntitySchema({
      name: 'Account with notes',
      tableName: 'accounts',
      columns: {
        id: { type: 'bigint', primary: true },
        notes: { type: 'text' },
        dropped: { type: 'text', select: false, insert: false, update: false },
      },
    });
    await expect(migrate({ ...config, entities: [schema] })).rejects.toThrow(
      'The database cannot be used: no migration creates accounts.notes; list the migration that does in the index.ts of its module.',
    );
  });
});

/**
 * Describes the columns, constraints and indexes of the tables with a schema. It omits the `id` columns, which the database generates.
 * The default of a number is described without the quotes and the type that PostgreSQL adds to `DEFAULT '0'`.
 */
async function describeTables({ entityMetadatas, manager }: DataSource, schema: string): Promise<string[]> {
  const rows: { described: string }[] = await manager.query(
    `SELECT replace(described, $1 || '.', '') AS described FROM (
       SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable,
         regexp_replace(column_default, '^''(-?[0-9.]+)''::[a-z ]+$', '\\1')) AS described
       FROM information_schema.columns WHERE table_schema = $1 AND table_name = ANY ($2) AND column_name <> 'id'
       UNION ALL
       SELECT concat_ws(' ', relname, CASE contype WHEN 'p' THEN '' ELSE conname END,
         replace(pg_get_constraintdef(pg_constraint.oid), ' NOT VALID', ''))
       FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
       WHERE connamespace = $1::regnamespace AND relname = ANY ($2)
       UNION ALL
       SELECT indexdef FROM pg_indexes JOIN pg_class ON relname = indexname JOIN pg_index ON indexrelid = pg_class.oid
       WHERE schemaname = $1 AND relnamespace = $1::regnamespace AND tablename = ANY ($2) AND NOT indisprimary
     ) AS all_of_them ORDER BY 1`,
    [schema, entityMetadatas.map(({ tableName }) => tableName)],
  );
  return rows.map(({ described }) => described);
}
