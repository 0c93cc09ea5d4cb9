import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ArgumentMetadata, Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import {
  DocumentBuilder,
  getSchemaPath,
  type RequestBodyObject,
  type SchemaObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import { DataSource, EntitySchema, type QueryRunner } from 'typeorm';
import { TypeOrmAccountRepository } from '../../src/auth/persistence/typeorm-account.repository';
import { loadSettings } from '../../src/config/settings';
import { SCOPES } from '../../src/feature-modules';
import { WINDOWS } from '../../src/shared/domain/allowance';
import { getDeclaredScopes } from '../../src/shared/http/access/require-scope.decorator';
import { discoverRoutes } from '../../src/shared/http/routing/api-versions';
import { RouteTable } from '../../src/shared/http/routing/route-table';
import { ONE_OF } from '../../src/shared/http/validation/at-least-one-field.decorator';
import { RequestValidationPipe } from '../../src/shared/http/validation/request-validation.pipe';
import { migrate } from '../../src/shared/persistence/migrate';
import { TypeOrmUnitOfWork } from '../../src/shared/persistence/typeorm-unit-of-work';
import { createTypeOrmConfig } from '../../src/typeorm.config';
import { type Deprecation, DEPRECATION_METADATA } from '../../src/versioning';
import { acceptsApiKeys, isPublic, type Operation, OPERATIONS } from '../support/operations';
import { TestService } from '../support/service';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const SRC = join(__dirname, '../../src');
const SCRATCH = 'made_from_schemas';

/** The operations that accept the API key of a test. */
const CALLED = OPERATIONS.filter((operation) => acceptsApiKeys(operation) || isPublic(operation));

interface RequestClass {
  /** The operation ID and the part of the request, such as `listPets: query`. */
  readonly input: string;
  readonly dto: Type<object>;
}

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.close());

describe('The service', () => {
  it.each([
    [
      'module',
      'src/feature-modules.ts',
      () => [...service.app.get(ModulesContainer).values()].map(({ metatype }) => metatype),
    ],
    ['schema', 'the index of its module', () => service.app.get(DataSource).options.entities],
    ['migration', 'the index of its module', () => service.app.get(DataSource).options.migrations],
  ])('lists every existing %s in %s', async (suffix, _, list) => {
    const listed = Object.values(list() ?? []) as unknown[];
    const files = readdirSync(SRC, { recursive: true })
      .map(String)
      .filter((file) => file.endsWith(`.${suffix}.ts`));
    const forgotten = [];
    for (const file of files) {
      const exported = Object.values((await import(join(SRC, file))) as Record<string, unknown>);
      if (!exported.some((value) => listed.includes(value))) {
        forgotten.push(`src/${file}`);
      }
    }
    expect(files.length).toBeGreaterThan(0);
    expect(forgotten).toEqual([]);
  });

  it('requires no scope that no module brings', () => {
    const required = discoverRoutes(service.app).flatMap(
      ({ handler, controller }) => getDeclaredScopes(handler, controller) ?? [],
    );
    expect(required).toContain('write');
    expect(required.filter((scope) => !SCOPES.includes(scope))).toEqual([]);
  });

  it('lists the windows from the shortest to the longest', () => {
    const lengths = WINDOWS.map(({ lengthMs }): number => lengthMs);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  });

  it('names existing operations as the successors of deprecated ones', () => {
    const deprecations = discoverRoutes(service.app).flatMap(
      ({ handler }) => (Reflect.getMetadata(DEPRECATION_METADATA, handler) as Deprecation | undefined) ?? [],
    );
    const paths = service.app
      .get(RouteTable)
      .getRoutes()
      .map(({ url }) => url.replace(/:(\w+)/g, '{$1}'));
    expect(deprecations.length).toBeGreaterThan(0);
    expect(deprecations.filter(({ successor }) => !paths.includes(successor))).toEqual([]);
  });
});

describe('The bodies and queries of operations', () => {
  let classes: RequestClass[];

  beforeAll(async () => {
    classes = await findRequestClasses();
  });

  it('are classes, not types that are erased at run time', () => {
    const documented = CALLED.flatMap(listInputs);
    const received = classes.map(({ input }) => input);
    const erased = classes.filter(({ dto }) => dto === Object).map(({ input }) => input);
    expect([
      ...documented
        .filter((input) => !received.includes(input) || erased.includes(input))
        .map(
          (input) =>
            `${input} is not validated: use a DTO class for it as a whole, such as @Query() query: ListPetsQueryDto`,
        ),
      ...received
        .filter((input) => !documented.includes(input))
        .map((input) => `${input} is not in the document: use a DTO class with documented fields`),
    ]).toEqual([]);
  });

  it('have fields that are validated, documented, and parsed as their type', () => {
    const dtos = [...new Set(classes.map(({ dto }) => dto))];
    const document = SwaggerModule.createDocument(service.app, new DocumentBuilder().build(), { extraModels: dtos });
    const problems = dtos.flatMap((dto) => {
      const name = getSchemaPath(dto).split('/').at(-1) ?? '';
      const { properties = {} } = document.components?.schemas?.[name] as SchemaObject;
      const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
      const checked = rules.map(({ propertyName }) => propertyName).filter((field) => !field.startsWith(ONE_OF));
      const documented = Object.keys(properties);
      const fields = [...new Set([...documented, ...checked])];
      return [
        ...fields
          .filter((field) => !checked.includes(field))
          .map((field) => `${dto.name}.${field} has no decorator of class-validator: it is always removed`),
        ...fields
          .filter((field) => !documented.includes(field))
          .map((field) => `${dto.name}.${field} has no @ApiProperty(): it is not in the document`),
        ...fields
          .filter((field) => isBigInt(dto, field) && !isReadAsBigInt(dto, field))
          .map((field) => `${dto.name}.${field} is a bigint that no @IsInt64() or @IsPositiveInt64String() parses`),
      ];
    });
    expect(problems).toEqual([]);
  });
});

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

  it('prevent startup with the name of a migration that fails', async () => {
    class CreateToys1999999999999 {
      readonly up = (runner: QueryRunner) => runner.query('CREATE TABEL toys ()');
      readonly down = () => Promise.resolve();
    }
    await expect(migrate({ ...config, migrations: [CreateToys1999999999999] })).rejects.toThrow(
      'CreateToys1999999999999 failed: syntax error at or near "TABEL"',
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

/** Sends a request to every operation. @returns the types that the pipe is given for whole bodies and queries */
async function findRequestClasses(): Promise<RequestClass[]> {
  const transform = jest.spyOn(RequestValidationPipe.prototype, 'transform');
  const key = await service.createKey();
  const found: RequestClass[] = [];
  for (const { operationId, method, path, body } of CALLED) {
    transform.mockClear();
    await service.call(method, path, { key, body });
    const isWhole = ({ type, data }: ArgumentMetadata) => data === undefined && ['body', 'query'].includes(type);
    const types = transform.mock.calls.map(([, metadata]) => metadata).filter(isWhole);
    found.push(
      ...types.map(({ type, metatype = Object }) => ({
        input: `${operationId}: ${type}`,
        dto: metatype as Type<object>,
      })),
    );
  }
  transform.mockRestore();
  return found;
}

/** Lists the documented body and query of an operation. A handler may read a multipart body itself. */
function listInputs({ operationId, requestBody, parameters = [] }: Operation): string[] {
  const types = Object.keys((requestBody as RequestBodyObject | undefined)?.content ?? {});
  return [
    ...(types.some((type) => !type.startsWith('multipart/')) ? [`${operationId}: body`] : []),
    ...(parameters.some((each) => 'in' in each && each.in === 'query') ? [`${operationId}: query`] : []),
  ];
}

function isBigInt({ prototype }: Type<object>, field: string): boolean {
  return Reflect.getMetadata('design:type', prototype as object, field) === BigInt;
}

function isReadAsBigInt(dto: Type<object>, field: string): boolean {
  return [1, '1'].some(
    (sent) => typeof Reflect.get(plainToInstance<object, object>(dto, { [field]: sent }), field) === 'bigint',
  );
}

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
