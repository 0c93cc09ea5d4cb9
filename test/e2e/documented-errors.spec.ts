import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOG } from '../../src/error-catalog';
import type { ErrorCases } from '../support/documented-errors';
import { ErrorCatalog } from '../../src/shared/http/errors/error-catalog';
import { type TestResponse, TestService } from '../support/service';

describe('The error catalog, from which docs/errors.md is generated,', () => {
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

  it.each(ERROR_CATALOG.codes)('has for %s the actual response of the service', async (code) => {
    const send = cases.get(code);
    if (send === undefined) {
      throw new Error(`No request gets ${code}: add one to the module's documented-errors.ts below test/e2e.`);
    }
    const response = await send();
    const { message, status } = ERROR_CATALOG.get(code);
    expect(JSON.parse(typeof response === 'object' ? response.text : response)).toEqual({ code, message, status });
  });

  it('has every code in a documented-errors.ts below test/e2e', () => {
    expect([...cases.keys()].sort()).toEqual([...service.app.get(ErrorCatalog).codes].sort());
  });
});
