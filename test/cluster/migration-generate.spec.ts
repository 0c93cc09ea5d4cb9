import { transformFile } from '@swc/core';
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDirectory } from '../support/process';

const ROOT = join(__dirname, '../..');

/** Runs TypeORM's command line as npm does. @returns the output */
const runTypeorm = async (dataSource: string, command: readonly string[], env: NodeJS.ProcessEnv): Promise<string> => {
  const args = ['scripts/typeorm.mjs', '--dataSource', dataSource, ...command];
  return (await promisify(execFile)(process.execPath, args, { cwd: ROOT, env })).stdout;
};

describe('npm run typeorm -- migration:generate', () => {
  it('generates a complete migration without a database, which runs, can be reverted, and leaves nothing to generate', async () => {
    const { path: directory } = await createTemporaryDirectory();
    const env = { MIGRATIONS: directory, DATA_DIR: join(directory, 'data') };
    const typeorm = (...command: string[]) => runTypeorm('test/support/changed-ormconfig.cjs', command, env);
    const path = join(directory, 'add-toys');
    await typeorm('migration:generate', path);
    expect(await readdir(directory)).toEqual(['add-toys.migration.ts']);
    const migration = await readFile(`${path}.migration.ts`, 'utf8');
    expect(migration).toContain(
      'CREATE TABLE "toys" ("id" bigint GENERATED ALWAYS AS IDENTITY, "pet_id" bigint NOT NULL, "price" integer NOT NULL ' +
        `DEFAULT '0', CONSTRAINT "toys_pet_id_price_key" UNIQUE ("pet_id", "price"), CONSTRAINT "toys_price_0_check" ` +
        'CHECK (price >= 0), CONSTRAINT "toys_pkey" PRIMARY KEY ("id"))',
    );
    expect(migration).toContain('ALTER TABLE "pets" ADD "note" text');
    expect(migration).toContain('DROP INDEX "pets_note_idx"');
    expect(migration).not.toMatch(/public|\bname =/);

    const { code } = await transformFile(`${path}.migration.ts`, { configFile: join(ROOT, '.swcrc') });
    await writeFile(`${path}.js`, code);
    await expect(typeorm('migration:generate', path)).rejects.toThrow('add-toys.migration.ts exists');
    expect(await typeorm('migration:generate', path, '--check')).toMatch(/^No changes in database schema were found/);
    await typeorm('migration:run');
    expect(await typeorm('migration:show')).toMatch(/^(\[X\] \d+ \w+\n)+\[X\] \d+ AddToys\d+\n$/);
    expect(await typeorm('migration:revert')).toMatch(/Migration AddToys\d+ has been reverted successfully/);
  }, 240_000);
});

describe('npm run typeorm', () => {
  it('migration:create creates a complete migration, without a database', async () => {
    const { path: directory } = await createTemporaryDirectory();
    const create = () => runTypeorm('dist/ormconfig.js', ['migration:create', join(directory, 'add-toys')], {});
    await create();
    expect(await readdir(directory)).toEqual(['add-toys.migration.ts']);
    const migration = await readFile(join(directory, 'add-toys.migration.ts'), 'utf8');
    expect(migration).toMatch(
      /^import type \{[^]+\n {2}async up\(runner: QueryRunner\): Promise<void> \{\n {4}await runner\.query\(''\);/,
    );
    await expect(create()).rejects.toThrow('add-toys.migration.ts exists');
  });

  it('rejects another data source', async () => {
    const run = runTypeorm('dist/ormconfig.js', ['migration:run', '-d', 'ormconfig.ts'], {});
    await expect(run).rejects.toThrow('Leave out the data source');
  });

  it.each(['entity:create', 'subscriber:create'])('%s creates a file', async (command) => {
    const { path: directory } = await createTemporaryDirectory();
    await runTypeorm('dist/ormconfig.js', [command, join(directory, 'Toy')], {});
    expect(await readdir(directory)).toEqual(['Toy.ts']);
  });
});
