import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '../../src/shared/domain/error-codes';
import type { ErrorCases } from '../support/documented-errors';
import { ErrorCatalog } from '../../src/shared/http/errors/error-catalog';
import { type TestResponse, TestService } from '../support/service';

const TEXT = readFileSync(join(__dirname, '../../docs/errors.md'), 'utf8');
const HEADINGS = [...TEXT.matchAll(/^### `(\w+)`/gm)].map(([, code]) => code);
/** The example responses, by the code in their heading. */
const DOCUMENTED = [...TEXT.matchAll(/^### `(\w+)`[^]*?^```\n(.*)\n```$/gm)].map(
  ([, code = '', example = '']) => [code as ErrorCode, example] as const,
);

describe('docs/errors.md', () => {
  let service: TestService;
  let cases: ReadonlyMap<string, () => Promise<TestResponse | string>>;

  beforeAll(async () => {
    service = await TestService.start({ TRUST_PROXY: '1' });
    const key = await service.createKey();
    const files = readdirSync(__dirname, { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('documented-errors.ts'));
    const modules = await Promise.all(
      files.map((file) => import(join(__dirname, file)) as Promise<{ readonly createErrorCases: ErrorCases }>),
    );
    cases = new Map(modules.flatMap(({ createErrorCases }) => Object.entries(createErrorCases(service, key))));
  });
  afterAll(() => service.close());

  it.each(DOCUMENTED)('shows for %s the actual response of the service', async (code, example) => {
    const send = cases.get(code);
    if (send === undefined) {
      throw new Error(`No request gets ${code}: add one to the module's documented-errors.ts below test/e2e.`);
    }
    const response = await send();
    expect(typeof response === 'object' ? response.text : response).toBe(example);
  });

  it('has a heading and an example for every code in a documented-errors.ts below test/e2e', () => {
    expect(DOCUMENTED.map(([code]) => code).sort()).toEqual([...cases.keys()].sort());
  });

  it('has a heading for every code of the service', () => {
    expect(HEADINGS.sort()).toEqual([...service.app.get(ErrorCatalog).codes].sort());
  });
});
