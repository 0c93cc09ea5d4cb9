import { execFile } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDirectory } from '../support/process';
import { TestService } from '../support/service';

const ROOT = join(__dirname, '../..');
const COMPILER_OPTIONS = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];

const run = promisify(execFile);

/** A program with code that TypeScript must accept, and marked mistakes that it must reject. */
const TYPES = `
import { createPetStore, type ErrorCode, type Schemas } from 'petstore-client';

const petStore = createPetStore({ baseUrl: '', apiKey: '' });
export const pet: Promise<Schemas['Pet']> = petStore.createPet({ body: { name: 'Rex', categoryId: 3n } });
export const pets: Promise<Schemas['Pet'][]> = petStore.listPets();
export const orders: AsyncIterable<Schemas['Order']> = petStore.paginate('listOrders', { query: { petId: 1n } });
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

describe('The package petstore-client', () => {
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  let examples: Readonly<Record<'readme' | 'guide', Example>>;

  beforeAll(async () => {
    directory = await createTemporaryDirectory();
    const pack = (path: string, ...options: string[]) =>
      run('npm', ['pack', path, '--pack-destination', directory.path, ...options]);
    await pack(join(ROOT, 'clients/typescript'));
    await pack(join(ROOT, 'node_modules/lossless-json'), '--ignore-scripts');
    const tarballs = (await readdir(directory.path)).map((name) => `./${name}`);
    await writeFile(join(directory.path, 'package.json'), '{ "private": true, "type": "module" }');
    await run('npm', ['install', '--offline', '--no-audit', ...tarballs], { cwd: directory.path });
    await symlink(join(ROOT, 'node_modules/@types'), join(directory.path, 'node_modules/@types'));
    examples = {
      readme: await readExample('clients/typescript/README.md', 'Example'),
      guide: await readExample('docs/getting-started.md', 'A typed client'),
    };
  }, 120_000);
  afterAll(() => directory.remove());

  it('contains only types and ES modules', async () => {
    const files = await readdir(join(directory.path, 'node_modules/petstore-client'), { recursive: true });
    expect(files.filter((name) => !/^dist\/[\w-]+(\.d\.ts|\.js)$/.test(name)).sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ]);
  });

  describe('has types that reject mistakes and accept', () => {
    let service: TestService;

    beforeAll(async () => {
      const programs = { types: TYPES, readme: examples.readme.code, guide: examples.guide.code };
      for (const [name, code] of Object.entries(programs)) {
        const program = code.replace(`'http://127.0.0.1:3000/v1'`, `process.env.BASE_URL ?? ''`);
        await writeFile(join(directory.path, `${name}.ts`), program);
      }
      const files = Object.keys(programs).map((name) => `${name}.ts`);
      await run(join(ROOT, 'node_modules/.bin/tsc'), [...COMPILER_OPTIONS, ...files], { cwd: directory.path }).catch(
        // The compiler prints errors to standard output.
        (error: unknown) => {
          throw new Error((error as { stdout: string }).stdout);
        },
      );
      service = await TestService.start();
    }, 120_000);
    afterAll(() => service.close());

    it.each(['guide', 'readme'] as const)(
      'the example of the %s, which prints the output shown there',
      async (name) => {
        const key = await service.createKey();
        await service.queryAsAdmin('TRUNCATE pets RESTART IDENTITY CASCADE');
        const { printed } = examples[name];
        for (const [, other] of printed.matchAll(/^\d+ (\w+) 3$/gm)) {
          await service.post('/v1/pets', { key, body: { name: other, categoryId: 3 } });
        }
        const start = (KEY: string) => {
          const env = { PATH: process.env.PATH, BASE_URL: `http://127.0.0.1:${service.port}/v1`, KEY };
          return run(process.execPath, [`${name}.js`], { cwd: directory.path, env });
        };
        expect((await start(key)).stdout).toBe(printed);
        expect((await start('wrong')).stderr).toBe('Enter another API key.\n');
      },
    );
  });
});
