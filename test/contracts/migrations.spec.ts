import { DataSource, type QueryRunner } from 'typeorm';
import { loadSettings } from '../../src/config/settings';
import { collectStatements, planMigrations } from '../../src/shared/persistence/migration-plan';
import { createTypeOrmConfig } from '../../src/typeorm.config';
import { findBrokenRules } from '../support/migration-rules';
import { getMigrationClasses } from '../support/migrations';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

/** Migrations that may break a rule in docs/extending.md, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  AddKeyRotation1795288200000: 'part of 1.0.0, so it only ever runs on empty tables',
  AddKeyScope1795332600000: 'reads one short row for each key: 0.14 s for a million of them',
  RenameKeyStartAndAuditAction1795788000000:
    'only operators write these tables, so they are small: 0.2 s for 10,000 keys',
};

describe('The migrations', () => {
  const settings = loadSettings({
    DATABASE_URL: ADMIN_DATABASE_URL,
  });

  it('follow the rules in docs/extending.md, so that old replicas keep working during and after them', async () => {
    const dataSource = await new DataSource(createTypeOrmConfig(settings)).initialize();
    const runner = dataSource.createQueryRunner();
    const broken = new Map<string, string[]>();
    for (const migrationClass of getMigrationClasses()) {
      const statements: string[] = [];
      await collectStatements(new migrationClass(), runner, statements);
      broken.set(migrationClass.name, findBrokenRules(statements));
    }
    await runner.release();
    await dataSource.destroy();
    const offenders = [...broken].filter(([, rules]) => rules.length > 0);
    const unexpected = offenders.filter(([name]) => !(name in EXCEPTIONS));
    expect(unexpected).toEqual([]);
    expect(offenders.map(([name]) => name)).toEqual(Object.keys(EXCEPTIONS));
  });
});

describe('The plan of pending migrations', () => {
  it('has what is known of migrations that depend on others, or that read what changes something', async () => {
    const create = (name: string, ...sql: string[]) => ({
      [name]: class {
        up = async (runner: QueryRunner) => {
          for (const each of sql) {
            await runner.query(each);
          }
        };
        down = () => Promise.resolve();
      },
    });
    const migrations = Object.values({
      ...create('CreateToys1999999999997', 'CREATE TABLE toys ()', 'SELECT FROM toys', 'DROP TABLE toys'),
      ...create('ResetIds1999999999998', `SELECT setval('pets_id_seq', 9)`),
      ...create('AddNote1999999999999', 'SELECT FROM pets', 'ALTER TABLE pets ADD COLUMN note text'),
    });
    const config = createTypeOrmConfig(loadSettings({ DATABASE_URL: ADMIN_DATABASE_URL }));
    expect((await planMigrations({ ...config, migrations })).map(({ statements }) => statements)).toEqual([
      ['CREATE TABLE toys ()', '-- The rest is unknown: relation "toys" does not exist'],
      ['-- The rest is unknown: cannot execute setval() in a read-only transaction'],
      ['ALTER TABLE pets ADD COLUMN note text'],
    ]);
  });
});

describe('A migration', () => {
  it.each([
    [
      'CREATE TABLE notes (id bigint PRIMARY KEY, text text NOT NULL CHECK (text <> $$;$$)); CREATE INDEX notes_text ON notes (text)',
    ],
    ['CREATE TABLE notes (id bigint); ALTER TABLE notes ADD UNIQUE (id)'],
    ['ALTER TABLE pets ADD COLUMN note text'],
    ["ALTER TABLE pets ADD COLUMN note text NOT NULL DEFAULT ''"],
    ['ALTER TABLE pets ADD COLUMN owner_id bigint REFERENCES accounts (id)'],
    ['ALTER TABLE pets ADD CONSTRAINT note_check CHECK (char_length(note) < 256) NOT VALID'],
    ['ALTER TABLE pets VALIDATE CONSTRAINT note_check'],
    ['ALTER TABLE pets DROP CONSTRAINT note_check, ALTER COLUMN note DROP NOT NULL'],
    ['CREATE INDEX IF NOT EXISTS pets_note ON pets (note)'],
    ['CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM pets; END $$'],
  ])('may run: %s', (sql) => {
    expect(findBrokenRules([sql])).toEqual([]);
  });

  it.each([
    ['DROP TABLE orders', 'drops or renames what old replicas use'],
    ['ALTER TABLE pets DROP COLUMN status', 'drops or renames what old replicas use'],
    ['ALTER TABLE pets DROP status', 'drops or renames what old replicas use'],
    ['ALTER TABLE pets RENAME COLUMN status TO state', 'drops or renames what old replicas use'],
    ['ALTER TABLE pets ALTER COLUMN status TYPE varchar(20)', 'rewrites the table'],
    ['ALTER TABLE pets ADD COLUMN note text NOT NULL', 'rejects what old replicas write'],
    ['ALTER TABLE pets ADD COLUMN a int, ALTER COLUMN status SET NOT NULL', 'rejects what old replicas write'],
    ['ALTER TABLE pets ADD CHECK (id > 0)', 'reads all rows under a lock'],
    ['ALTER TABLE pets ADD CONSTRAINT a FOREIGN KEY (id) REFERENCES accounts (id)', 'reads all rows under a lock'],
    ["ALTER TABLE pets ADD COLUMN a text DEFAULT 'x' CHECK (a <> '')", 'reads all rows under a lock'],
    ['ALTER TABLE pets ADD CONSTRAINT a UNIQUE (name)', 'reads all rows under a lock'],
    ['ALTER TABLE pets ADD COLUMN a uuid DEFAULT gen_random_uuid()', 'reads all rows under a lock'],
    ['CREATE INDEX pets_note ON pets (note)', 'reads all rows under a lock'],
    ['CREATE INDEX CONCURRENTLY IF NOT EXISTS pets_note ON pets (note)', 'cannot run in a transaction'],
    ["/* backfill */ UPDATE pets SET note = ''", 'changes all rows at once'],
    ['LOCK TABLE pets', 'locks the table by itself'],
    ["SET LOCAL lock_timeout = '1min'", 'overrides the lock timeout'],
  ])('may not run: %s', (sql, rule) => {
    expect(findBrokenRules([sql])).toContain(rule);
  });
});
