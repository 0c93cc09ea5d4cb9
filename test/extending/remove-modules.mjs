// For each module of operations: removes it from a copy of the project, with its tests and the line that registers it, and checks
// that the rest compiles and follows the boundary rules. Usage: node test/extending/remove-modules.mjs [module…]
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';

const PROJECT = [
  ...['src', 'test', 'bench', 'clients/typescript', 'generators', 'ormconfig.ts'],
  ...['package.json', 'tsconfig.json', '.dependency-cruiser.cjs'],
];
const LIST = 'src/feature-modules.ts';

const named = process.argv.slice(2);
for (const module of named.length > 0 ? named : findOperationModules()) {
  const importers = findImporters(module);
  if (importers.length === 0) {
    checkWithout(module);
  } else {
    process.stdout.write(`Skipped src/${module}: ${importers.join(', ')} imports it.\n`);
  }
}

/** Finds the directories of the modules in the list FEATURE_MODULES. */
function findOperationModules() {
  const text = readFileSync(LIST, 'utf8');
  const [, list = ''] = /^export const FEATURE_MODULES = \[\n([^\]]*)\]/m.exec(text) ?? [];
  const names = [...list.matchAll(/^ {2}(\w+),$/gm)].map(([, name]) => name);
  const modules = [...text.matchAll(/^import \{ (.+) \} from '\.\/(\w[\w-]*)';$/gm)];
  const found = modules.filter(([, imported]) => imported.split(', ').some((name) => names.includes(name)));
  if (found.length === 0 || found.length < names.length) {
    throw new Error(
      'src/feature-modules.ts has no list FEATURE_MODULES, one module a line, each imported from its directory.',
    );
  }
  return found.map(([, , module]) => module);
}

/** Finds the other modules that import the module. */
function findImporters(module) {
  const importing = new RegExp(` from '(\\.\\./)+${module}';$`, 'm');
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const importers = files.filter(
    (file) => !file.startsWith(`${module}/`) && importing.test(readFileSync(join('src', file), 'utf8')),
  );
  return [...new Set(importers.map((file) => `src/${file.split('/')[0]}`))];
}

function checkWithout(module) {
  const belongsToModule = new RegExp(`^(src|test/[^/]+)/${module}(\\.|/|$)`);
  const copy = mkdtempSync(join(tmpdir(), 'petstore-without-'));
  try {
    PROJECT.forEach((path) => {
      cpSync(path, join(copy, path), { recursive: true, filter: (source) => !belongsToModule.test(source) });
    });
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
    const removed = removeLines(copy, LIST, module);
    process.stdout.write(`Without src/${module}, its tests and ${removed} lines elsewhere:\n`);
    run(copy, 'tsc', '--noEmit', '--incremental', 'false');
    run(copy, 'depcruise', '-T', 'err-long', 'src', 'ormconfig.ts');
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/**
 * Removes the lines that use an import from the module.
 * @returns the number of removed lines
 */
function removeLines(copy, path, module) {
  const text = readFileSync(path, 'utf8');
  const imports = text.matchAll(new RegExp(`^import \\{ (.+) \\} from '.*/${module}(/.*)?';$`, 'gm'));
  const names = [...imports].flatMap(([, imported]) => imported.split(', '));
  const usesImport = new RegExp(`\\b(${names.join('|')})\\b`);
  const lines = text.split('\n');
  const kept = names.length === 0 ? lines : lines.filter((line) => !usesImport.test(line));
  writeFileSync(join(copy, path), kept.join('\n'));
  return lines.length - kept.length;
}

function run(copy, command, ...args) {
  const { status } = spawnSync(join(copy, 'node_modules/.bin', command), args, { cwd: copy, stdio: 'inherit' });
  if (status !== 0) {
    process.exitCode = 1;
  }
}
