// Runs TypeORM's command line, which connects to DATABASE_URL or to the embedded database, and gives a migration that it generates or
// creates the form of the others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';

const require = createRequire(import.meta.url);
const { openUnlessInUse } = require('../dist/src/cli/command-database.js');
const { loadSettings } = require('../dist/src/config/settings.js');

/** @returns the exit code and the output */
async function run(args, env) {
  const child = spawn(process.execPath, [require.resolve('typeorm/cli.js'), ...args], {
    env,
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, output };
}

async function runCommand(args, env) {
  const { databaseUrl, dataDir } = loadSettings(env);
  const embedded = databaseUrl === undefined ? await openUnlessInUse(dataDir) : undefined;
  try {
    return await run(args, env);
  } finally {
    await embedded?.close();
  }
}

/** Compares the schemas with a temporary database that has all migrations. */
async function generate(args) {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-migrated-'));
  const others = Object.entries(process.env).filter(([name]) => !/^(DATABASE_|APP_ENV$)/.test(name));
  const env = { ...Object.fromEntries(others), DATA_DIR: directory };
  try {
    const migrated = await runCommand(args.slice(0, 2).concat('migration:run'), env);
    return migrated.code === 0 ? await runCommand(args, env) : migrated;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Completes what TypeORM leaves to be done by hand. */
async function complete(path) {
  const { format, resolveConfig } = await import('prettier');
  const migration = readFileSync(path, 'utf8')
    .replace('import {', 'import type {')
    .replace(/^ +name = .*$/m, '')
    .replaceAll('public async', 'async')
    .replaceAll('queryRunner', 'runner')
    .replace(/(Promise<void> )\{\s*\}/g, "$1{ await runner.query(''); }")
    // An EntitySchema cannot declare an identity column.
    .replace(
      /\b(BIG|SMALL)?SERIAL NOT NULL\b/g,
      (_, size = '') => `${size.toLowerCase()}int GENERATED ALWAYS AS IDENTITY`,
    )
    .replaceAll('DROP INDEX "public".', 'DROP INDEX ');
  writeFileSync(
    path,
    await format(migration, { ...(await resolveConfig(import.meta.filename)), parser: 'typescript' }),
  );
  const renamed = path.replace(/\d+-([^\\/]+)\.ts$/, '$1.migration.ts');
  renameSync(path, renamed);
  process.stdout.write(`Completed and renamed to ${renamed}. Add it to the index.ts of its module.\n`);
}

/** Runs a command that only creates a file: it needs no database, and rejects the option for one. */
function create(args) {
  const option = args.indexOf('--dataSource');
  return run(option < 0 ? args : args.toSpliced(option, 2), process.env);
}

const args = process.argv.slice(2);
// After the one of the npm script.
if (args.slice(2).some((arg) => /^(-d|--data-?source)/i.test(arg))) {
  process.stderr.write('Leave out the data source: it is always that of the service (ormconfig.ts).\n');
  process.exit(1);
}
const isGenerating = args.includes('migration:generate');
const isCreating = args.some((name) => /^\w+:create$/.test(name));
const isWriting =
  args.includes('migration:create') || (isGenerating && !args.includes('--check') && !args.includes('--dryrun'));
const existing = args.find((path) => existsSync(`${path}.migration.ts`));
if (isWriting && existing !== undefined) {
  process.stderr.write(`${existing}.migration.ts exists. Choose another name.\n`);
  process.exit(1);
}
const { code, output } = await (isCreating
  ? create(args)
  : isGenerating
    ? generate(args)
    : runCommand(args, process.env));
process.stdout.write(output);
process.exitCode = code ?? 1;
const generated = /^Migration (.+) has been generated/m.exec(stripVTControlCharacters(output))?.[1];
if (generated !== undefined) {
  await complete(generated);
}
