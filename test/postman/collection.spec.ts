import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OPERATIONS, findSuccessStatus } from '../support/operations';
import { findFreePort, type Program, startServer, createTemporaryDirectory } from '../support/process';

const ROOT = join(__dirname, '../..');
const POSTMAN = join(ROOT, 'clients/postman');
const COLLECTION = join(POSTMAN, 'petstore.postman_collection.json');

const run = promisify(execFile);

interface Execution {
  readonly item: { readonly name: string };
  readonly response: { readonly code: number };
  readonly assertions: readonly { readonly assertion: string; readonly error?: object }[];
}

describe('The Postman collection', () => {
  let directory: string;
  let server: Program & { key: string };
  let baseUrl: string;

  beforeAll(async () => {
    ({ path: directory } = await createTemporaryDirectory());
    const env = { DATA_DIR: join(directory, 'data'), PORT: await findFreePort() };
    baseUrl = `http://127.0.0.1:${env.PORT}/v1`;
    server = await startServer(env);
  });

  const runNewman = (apiKey: string, ...options: string[]) => {
    const variables = ['--env-var', `baseUrl=${baseUrl}`, '--env-var', `apiKey=${apiKey}`];
    return run(process.execPath, [
      join(POSTMAN, 'node_modules/newman/bin/newman.js'),
      'run',
      COLLECTION,
      ...variables,
      ...options,
    ]);
  };

  it('equals what `npm run client:postman` generates from openapi.json', async () => {
    const command = `"${process.execPath}" "${join(POSTMAN, 'generate.mjs')}" < "${join(ROOT, 'openapi.json')}"`;
    expect((await run('sh', ['-c', command])).stdout).toBe(await readFile(COLLECTION, 'utf8'));
  });

  it('has a new Idempotency-Key for each create request', async () => {
    const keys = [...(await readFile(COLLECTION, 'utf8')).matchAll(/"key": "Idempotency-Key",\s+"value": "(.*)"/g)];
    expect(new Set(keys.map(([, value]) => value))).toEqual(new Set(['{{$guid}}']));
  });

  it('runs repeatedly with Newman: every operation returns its documented success status', async () => {
    const documented = OPERATIONS.map((operation) => `${operation.summary}: ${findSuccessStatus(operation)}`);
    const file = join(directory, 'run.json');
    for (let repeat = 0; repeat < 2; repeat += 1) {
      await runNewman(server.key, '--reporters', 'json', '--reporter-json-export', file);
      const { executions } = (JSON.parse(await readFile(file, 'utf8')) as { run: { executions: Execution[] } }).run;
      expect(executions.map(({ item, response }) => `${item.name}: ${response.code}`).sort()).toEqual(
        documented.sort(),
      );
      for (const { assertions, response } of executions) {
        expect(assertions).toEqual([expect.objectContaining({ assertion: `returns ${response.code}` })]);
      }
    }
  });

  it('fails if a request does not succeed', async () => {
    await expect(runNewman('wrong')).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('expected response to have status code 200 but got 401') as string,
    });
  });
});
