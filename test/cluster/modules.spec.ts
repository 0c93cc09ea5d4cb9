import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Clone } from './support/clone';

/** A copy is built, compiled and tested on a busy machine. */
const TIMEOUT_MS = 300_000;

describe('A copy of the project', () => {
  let clone: Clone;

  beforeEach(async () => {
    clone = await Clone.create();
  });
  afterEach(() => clone.remove());

  const npm = async (...args: string[]) => {
    const { code, output } = await (await clone.npm(...args)).end();
    if (code !== 0) {
      throw new Error(`npm ${args.join(' ')} exited with ${code}:\n${output}`);
    }
  };
  const exec = (...args: string[]) => npm('exec', '--', ...args);
  const change = async (path: string, edit: (text: string) => string) => {
    const file = join(clone.directory, path);
    const before = await readFile(file, 'utf8');
    const after = edit(before);
    expect([path, after === before]).toEqual([path, false]);
    await writeFile(file, after);
  };
  const listFiles = async (path: string) =>
    (await readdir(join(clone.directory, path), { recursive: true })).map((file) => join(path, file));
  /** Runs `npm run regenerate`, without the Postman collection, which needs its own dependencies. */
  const regenerate = async () => {
    for (const script of ['build', 'openapi', 'docs', 'client:types']) {
      await npm('run', script);
    }
  };

  it('is unchanged if the name of a module to generate is rejected', async () => {
    const before = await listFiles('.');
    await expect(npm('run', '--ignore-scripts', 'generate', 'module', 'pets')).rejects.toThrow('this module exists');
    expect(await listFiles('.')).toEqual(before);
  });

  it(
    'passes every check with a generated module',
    async () => {
      await npm('run', '--ignore-scripts', 'generate', 'module', 'medical-records');
      await regenerate();
      const generated = ['src/feature-modules.ts', 'src/medical-records', 'test/e2e/medical-records'];
      const concerned = ['medical-records', 'every-operation', 'documented-errors', 'openapi-document'];
      await Promise.all([
        exec('jest', ...concerned.map((name) => `test/e2e/${name}`), 'test/contracts/(dtos|schemas|migrations|wiring)'),
        exec('tsc', '--noEmit').then(() => exec('eslint', ...generated)),
        exec('prettier', '--check', 'docs', ...generated),
      ]);
    },
    TIMEOUT_MS,
  );

  // As in docs/extending.md.
  it(
    'passes the tests that read generated files or guides, and compiles, after orders was removed',
    async () => {
      const errors = await readFile(join(clone.directory, 'src/orders/domain/order-errors.ts'), 'utf8');
      const codes = [...errors.matchAll(/^ {2}(\w+): '/gm)].map(([, code]) => code);
      const own = (await Promise.all(['src', 'test'].map(listFiles))).flat();
      for (const path of own.filter((file) => /^(src|test\/\w+)\/orders(\.spec\.ts)?$/.test(file))) {
        await rm(join(clone.directory, path), { recursive: true });
      }
      await change('src/feature-modules.ts', (text) => text.replace(/^.*\bORDERS\b.*\n/gm, ''));
      for (const path of ['docs/api.md', 'docs/versioning.md']) {
        await change(path, (text) => text.replace(/^\|.*\/store\/orders.*\n/gm, ''));
      }
      await change('docs/errors.md', (text) =>
        text.replace(new RegExp(`^### \`(${codes.join('|')})\`[^]*?(?=^##)`, 'gm'), ''),
      );
      await regenerate();
      const concerned = ['every-operation', 'documented-errors', 'openapi-document', 'documentation'];
      await Promise.all([
        exec('jest', ...concerned.map((name) => `test/e2e/${name}`), 'test/extending/extending', 'test/client/package'),
        exec('tsc', '--noEmit'),
      ]);
    },
    TIMEOUT_MS,
  );
});
