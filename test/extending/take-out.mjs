// Takes a module out of a copy of the project, with its tests and the lines by which it is plugged in, and checks that the
// rest compiles and keeps its boundaries: node test/extending/take-out.mjs <module>
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';

const PROJECT = ['src', 'test', 'bench', 'ormconfig.ts', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs'];
const LISTS = ['src/app.module.ts', 'src/error-catalog.ts', 'src/typeorm.config.ts'];

const [module = ''] = process.argv.slice(2);
const domain = join('src', module, 'domain');
if (module === '' || !existsSync(domain)) {
  throw new Error('Give the name of a module, a directory of src/.');
}
const ofModule = new RegExp(`^(src|test/[^/]+)/${module}(\\.|/|$)`);
const copy = mkdtempSync(join(tmpdir(), 'petstore-without-'));
try {
  PROJECT.forEach((path) => {
    cpSync(path, join(copy, path), { recursive: true, filter: (source) => !ofModule.test(source) });
  });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  const taken = LISTS.reduce((sum, path) => sum + takeLines(path, plugsIn(path)), 0);
  process.stdout.write(`Without src/${module}, its tests and ${taken} lines elsewhere:\n`);
  run('tsc', '--noEmit', '--incremental', 'false');
  run('depcruise', 'src', 'ormconfig.ts');
} finally {
  rmSync(copy, { recursive: true });
}

/** What a line has that plugs the module in: the name of something that is imported from there. */
function plugsIn(path) {
  const imports = readFileSync(path, 'utf8').matchAll(
    new RegExp(`^import \\{ (.+) \\} from '.*/${module}(/.*)?';$`, 'gm'),
  );
  const names = [...imports].flatMap(([, imported]) => imported.split(', '));
  if (names.length === 0) {
    throw new Error(`${path} imports nothing of the module ${module}.`);
  }
  return new RegExp(`\\b(${names.join('|')})\\b`);
}

/** @returns how many lines there were */
function takeLines(path, isTaken) {
  const lines = readFileSync(path, 'utf8').split('\n');
  const kept = lines.filter((line) => !isTaken.test(line));
  writeFileSync(join(copy, path), kept.join('\n'));
  return lines.length - kept.length;
}

function run(command, ...args) {
  const { status } = spawnSync(join(copy, 'node_modules/.bin', command), args, { cwd: copy, stdio: 'inherit' });
  if (status !== 0) {
    process.exitCode = 1;
  }
}
