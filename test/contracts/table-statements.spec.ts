import { DataSource, EntitySchema, type EntitySchemaColumnOptions, type EntitySubscriberInterface } from 'typeorm';
import { loadSettings } from '../../src/config/settings';
import { PetSchema } from '../../src/pets/persistence/pet.schema';
import { bigintColumn, type Columns, identityColumn } from '../../src/shared/persistence/columns';
import { type Statement, Statements } from '../../src/shared/persistence/statements';
import { ReadEndpoint } from '../../src/shared/persistence/read-endpoint';
import { Table, Tables } from '../../src/shared/persistence/table';
import { TableStatements } from '../../src/shared/persistence/table-statements';
import { ServiceUnavailableError } from '../../src/shared/domain/pet-store-error';
import { TypeOrmUnitOfWork } from '../../src/shared/persistence/typeorm-unit-of-work';
import { createTypeOrmConfig } from '../../src/typeorm.config';
import { explain } from '../support/explain';
import { TestService } from '../support/service';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

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

class Visit {
  constructor(
    readonly id: bigint,
    readonly day: string,
    readonly order: bigint | null,
    readonly tags: readonly string[],
    readonly size: 'S' | 'M',
    readonly details: object,
    readonly weight: number,
    readonly note?: string | null | undefined,
  ) {}
}

const VisitSchema = new EntitySchema<Visit>({
  name: 'Visit',
  target: Visit,
  tableName: 'user',
  schema: 'visits',
  columns: {
    id: { ...identityColumn, name: 'visitId' },
    day: { type: 'date', name: 'firstDay' },
    order: { ...bigintColumn, nullable: true },
    tags: { type: 'text', array: true },
    size: {
      type: String,
      transformer: [
        { to: (size?: string) => size?.toLowerCase(), from: (size: string) => size.toUpperCase() },
        { to: (size?: string) => size && `size ${size}`, from: (size: string) => size.replace('size ', '') },
      ],
    },
    details: { type: 'jsonb' },
    weight: { type: 'integer' },
    note: { type: 'text', nullable: true, default: 'none' },
  } satisfies Columns<Visit>,
  indices: [{ columns: ['size', 'id'] }],
});

describe('A table', () => {
  const visit: Omit<Visit, 'id'> = { day: '2024-02-29', order: 7n, tags: [], size: 'M', details: {}, weight: 5 };
  let dataSource: DataSource;
  let unitOfWork: TypeOrmUnitOfWork;
  let statements: Statements;
  let visits: Table<Visit>;
  const settings = loadSettings({ DATABASE_URL: ADMIN_DATABASE_URL });

  beforeAll(async () => {
    dataSource = await new DataSource({ ...createTypeOrmConfig(settings), entities: [VisitSchema] }).initialize();
    await dataSource.query('CREATE SCHEMA visits');
    await dataSource.synchronize();
    unitOfWork = new TypeOrmUnitOfWork(dataSource, settings);
    statements = new Statements(dataSource, unitOfWork, settings);
    visits = createTable();
  });
  afterAll(async () => {
    await dataSource.query('DROP SCHEMA visits CASCADE');
    await statements.close();
    await dataSource.destroy();
  });

  function createTable(): Table<Visit> {
    return new Table(new TableStatements(VisitSchema), () => true, statements, statements, unitOfWork);
  }

  async function findWithBoth(id: bigint): Promise<Visit | null> {
    const found = await visits.find(id);
    expect(found).toEqual(await dataSource.getRepository(Visit).findOneBy({ id }));
    return found;
  }

  it('stores and finds what TypeORM does, under any names of the table and its columns', async () => {
    const id = await visits.insert(visit);
    const found = await findWithBoth(id);
    expect(found).toEqual({ ...visit, id, note: 'none' });
    expect([...(await visits.page({ filters: { order: 7n }, after: id - 1n, limit: 1 })).items]).toEqual([found]);
  });

  it('shares its connections with other tables of the same schema', async () => {
    const id = await visits.insert({ ...visit, order: 8n });
    const pages = [
      await createTable().page({ after: id - 1n, limit: 1 }),
      await createTable().page({ filters: { order: 8n }, after: 0n, limit: 1 }),
      await visits.page({ filters: { order: 8n, size: 'M' }, after: 0n, limit: 1 }),
    ];
    expect(pages.map(({ items }) => [...items].map((item) => item.id))).toEqual([[id], [id], [id]]);
  });

  it('stores what the transformers of a column return, and filters by it', async () => {
    const id = await visits.insert({ ...visit, size: 'S' });
    expect(await dataSource.query('SELECT size FROM visits.user WHERE "visitId" = $1', [id])).toEqual([
      { size: 'size s' },
    ]);
    expect((await visits.find(id, { size: 'S' }))?.size).toBe('S');
    expect(await visits.find(id, { size: 'M' })).toBeNull();
    expect([...(await visits.page({ filters: { size: 'S' }, after: 0n, limit: 9 })).items].map((it) => it.id)).toEqual([
      id,
    ]);
  });

  it('gives a property that is missing or undefined the default of its column, but not one that is null', async () => {
    const items = [{ ...visit, note: null }, visit, { ...visit, note: undefined }];
    const ids = await Promise.all(items.map((item) => visits.insert(item)));
    const found = await Promise.all(ids.map(findWithBoth));
    expect(found.map((it) => it?.note)).toEqual([null, 'none', 'none']);
  });

  it('stores arrays, and filters by them', async () => {
    const tags = ['a "b"', '{c,d}', ''];
    const id = await visits.insert({ ...visit, tags });
    expect((await findWithBoth(id))?.tags).toEqual(tags);
    expect((await visits.find(id, { tags }))?.id).toBe(id);
    expect(await visits.find(id, { tags: [] })).toBeNull();
  });

  it('reads the day of a date as a string, and filters by it', async () => {
    const id = await visits.insert({ ...visit, day: new Date(2024, 0, 1) as unknown as string });
    expect((await findWithBoth(id))?.day).toBe('2024-01-01');
    expect((await visits.find(id, { day: '2024-01-01' }))?.id).toBe(id);
    expect(await visits.find(id, { day: '2024-01-02' })).toBeNull();
  });

  it('reads numbers as numbers after a migration of a newer version has made their column larger', async () => {
    const id = await visits.insert(visit);
    await dataSource.query('ALTER TABLE visits.user ALTER COLUMN weight TYPE bigint');
    const found = await visits.find(id);
    await dataSource.query('ALTER TABLE visits.user ALTER COLUMN weight TYPE integer');
    expect(found?.weight).toBe(5);
  });

  it('refuses a bigint in JSON, as TypeORM does, and stores the rows that arrive together', async () => {
    const [refused, stored] = await Promise.allSettled([
      visits.insert({ ...visit, details: { weight: 1n } }),
      visits.insert({ ...visit, details: { weights: [1, null, 'x'] } }),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) as unknown });
    expect(stored.status).toBe('fulfilled');
  });

  it('gives no row the ID of another one, if a trigger skips some', async () => {
    await dataSource.query(`
      CREATE FUNCTION visits.skip() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.weight = 0 THEN RETURN NULL; END IF; RETURN NEW; END $$;
      CREATE TRIGGER skip BEFORE INSERT ON visits.user FOR EACH ROW EXECUTE FUNCTION visits.skip()`);
    const outcomes = await Promise.allSettled([{ ...visit, weight: 0 }, visit].map((item) => visits.insert(item)));
    await dataSource.query('DROP FUNCTION visits.skip CASCADE');
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it.each<[string, (work: () => Promise<unknown>) => Promise<unknown>]>([
    ['outside a transaction', (work) => work()],
    ['in a transaction', (work) => unitOfWork.run(work)],
  ])('takes no result of another statement for its own, %s', async (_place, run) => {
    const statement = { name: 'other', text: 'SELECT 1 AS one', columns: ['two'] };
    await expect(run(() => statements.read(statement, []))).rejects.toThrow(ServiceUnavailableError);
  });

  it.each<[string, Partial<EntitySubscriberInterface>]>([
    ['its entity', { listenTo: () => Visit }],
    ['all entities', {}],
  ])('prevents startup if a subscriber listens to the inserts of %s', (_, listening) => {
    class VisitSubscriber implements EntitySubscriberInterface {
      readonly afterInsert = () => undefined;
    }
    const subscribers = [Object.assign(new VisitSubscriber(), listening)];
    const endpoint = new ReadEndpoint(statements, unitOfWork, settings);
    const tables = new Tables({ subscribers } as unknown as DataSource, statements, endpoint, unitOfWork);
    tables.onApplicationBootstrap();
    tables.get(VisitSchema);
    expect(() => {
      tables.onApplicationBootstrap();
    }).toThrow('VisitSubscriber would miss afterInsert of Visit, whose rows a Table reads and inserts.');
  });

  it('does not compile with a filter by null', async () => {
    // @ts-expect-error no value equals null
    expect(await visits.find(await visits.insert({ ...visit, order: null }), { order: null })).toBeNull();
  });

  it('does not compile with a filter that is not in the filters', async () => {
    const { tags, ...page } = { tags: [], size: 'S' as const, after: 0n, limit: 1 };
    // @ts-expect-error the size would be ignored
    expect([...(await visits.page({ filters: { tags }, ...page })).items]).toHaveLength(1);
  });

  it.each<[string, EntitySchemaColumnOptions]>([
    ["type: 'bytea'", { type: 'bytea' }],
    ["type: 'timestamp'", { type: 'timestamp' }],
    ["type: 'date[]'", { type: 'date', array: true }],
    ['select: false', { type: 'text', select: false }],
    ['deleteDate', { type: 'timestamptz', deleteDate: true }],
    ['version', { type: 'integer', version: true }],
  ])('refuses %s of a column, which only TypeORM supports, at the start', (feature, note) => {
    const schema = new EntitySchema<Visit>({
      ...VisitSchema.options,
      columns: { ...VisitSchema.options.columns, note },
    });
    expect(() => new TableStatements(schema)).toThrow(
      `Tables do not support ${feature} of Visit.note: use TypeORM for this table.`,
    );
  });

  it.each<[string, object]>([
    ['orderBy', { orderBy: { day: 'ASC' } }],
    ['the eager relation order', { relations: { order: { type: 'many-to-one', target: 'Order', eager: true } } }],
  ])('refuses %s of a schema, at the start', (feature, options) => {
    const schema = new EntitySchema<Visit>({ ...VisitSchema.options, ...options });
    expect(() => new TableStatements(schema)).toThrow(`Tables do not support ${feature} of Visit: use TypeORM`);
  });
});
