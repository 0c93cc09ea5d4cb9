import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDirectory } from '../support/process';
import { type Cluster, startCluster } from './support/cluster';

const ROOT = join(__dirname, '../..');
const GUIDE = 'docs/getting-started.md';
const FORMATS = ['module', 'commonjs'];

const run = promisify(execFile);

/** A program with code that TypeScript must accept, and marked mistakes that it must reject. */
const TYPES = `
import { createPetStore, type ErrorCode, type Schemas } from 'petstore-client';

const petStore = createPetStore({ baseUrl: '', apiKey: '' });
export const pet: Promise<Schemas['Pet']> = petStore.createPet({ body: { name: 'Rex', categoryId: 3n } });
export const pets: Promise<Schemas['Pet'][]> = petStore.listPets();
export const sold: AsyncIterable<Schemas['Pet']> = petStore.paginate('listPets', { query: { status: 'sold' } });
export const id: Promise<bigint> = petStore
  .withResponse('getPet', { path: { petId: 1n } })
  .then(({ data, requestId }) => (requestId === undefined ? 0n : data.id));
export const code: ErrorCode = 'pet_not_found';
// @ts-expect-error: there is no such code.
export const noCode: ErrorCode = 'pet_lost';
// @ts-expect-error: a body is required.
void petStore.createPet();
// @ts-expect-error: an int64 is a bigint.
void petStore.createPet({ body: { name: 'Rex', categoryId: 3 } });
// @ts-expect-error: there is no such status.
void petStore.listPets({ query: { status: 'lost' } });
// @ts-expect-error: it returns no list.
petStore.paginate('getPet', { path: { petId: 1n } });
`;

interface Example {
  readonly code: string;
  readonly printed: string;
}

/** Reads the program in a section, and the output that the section shows for it. */
async function readExample(path: string, heading: string): Promise<Example> {
  const [, section = ''] = (await readFile(join(ROOT, path), 'utf8')).split(`\n## ${heading}\n`);
  const blocks = [...section.matchAll(/^```(\w*)\n([^]*?)^```$/gm)];
  const [code = '', printed = ''] = ['ts', ''].map((language) => blocks.find(([, each]) => each === language)?.[2]);
  return { code, printed };
}

/** CommonJS has no `await` outside functions. */
function wrapAwait(program: string): string {
  return program.replace(/^try \{[^]*/m, 'void (async () => {\n$&})();\n');
}

describe('The package petstore-client', () => {
  let directory: string;
  let examples: Readonly<Record<'readme' | 'guide', Example>>;

  beforeAll(async () => {
    ({ path: directory } = await createTemporaryDirectory());
    await run('npm', ['pack', join(ROOT, 'clients/typescript'), '--pack-destination', directory]);
    const [tarball] = await readdir(directory);
    await run('npm', ['install', '--offline', '--no-audit', `./${tarball ?? ''}`], { cwd: directory });
    await symlink(join(ROOT, 'node_modules/@types'), join(directory, 'node_modules/@types'));
    examples = {
      readme: await readExample('clients/typescript/README.md', 'Example'),
      guide: await readExample(GUIDE, 'A typed client'),
    };
  }, 120_000);

  it('contains only types and modules, in both formats', async () => {
    const files = await readdir(join(directory, 'node_modules/petstore-client'), { recursive: true });
    expect(files.filter((name) => !/^dist\/(cjs\/)?[\w-]+(\.d\.ts|\.js)$/.test(name)).sort()).toEqual([
      ...['LICENSE', 'README.md', 'dist', 'dist/cjs', 'dist/cjs/package.json', 'package.json'],
    ]);
  });

  describe('has types that reject mistakes and accept', () => {
    let { store, replica } = {} as Cluster;

    beforeAll(async () => {
      const programs = Object.entries({ types: TYPES, readme: examples.readme.code, guide: examples.guide.code });
      for (const type of FORMATS) {
        await mkdir(join(directory, type));
        await writeFile(join(directory, type, 'package.json'), JSON.stringify({ type }));
        for (const [name, code] of programs) {
          const program = code.replace(`'http://127.0.0.1:3000/v1'`, `process.env.BASE_URL ?? ''`);
          await writeFile(join(directory, type, `${name}.ts`), type === 'module' ? program : wrapAwait(program));
        }
      }
      const [, options = ''] = /^npx tsc (.*) example\.ts$/m.exec(await readFile(join(ROOT, GUIDE), 'utf8')) ?? [];
      const files = FORMATS.flatMap((type) => programs.map(([name]) => `${type}/${name}.ts`));
      await run(join(ROOT, 'node_modules/.bin/tsc'), [...options.split(' '), ...files], { cwd: directory }).catch(
        // The compiler prints errors to standard output.
        (error: unknown) => {
          throw new Error((error as { stdout: string }).stdout);
        },
      );
      ({ store, replica } = await startCluster());
    }, 120_000);

    it.each(FORMATS.flatMap((type) => [['guide', type] as const, ['readme', type] as const]))(
      'the example of the %s, which prints the output shown there, as a %s program',
      async (name, type) => {
        const key = await store.createKey('free');
        await store.query('TRUNCATE pets RESTART IDENTITY CASCADE');
        const { printed } = examples[name];
        for (const [, other] of printed.matchAll(/^\d+ (\w+) 3$/gm)) {
          await store.query(`INSERT INTO pets (name, category_id, status) VALUES ($1, 3, 'available')`, [other]);
        }
        const start = (KEY: string) => {
          const env = { PATH: process.env.PATH, BASE_URL: `${replica.url}/v1`, KEY };
          return run(process.execPath, [`${type}/${name}.js`], { cwd: directory, env });
        };
        expect((await start(key)).stdout).toBe(printed);
        expect((await start('wrong')).stderr).toBe('Enter another API key.\n');
      },
    );
  });
});
