import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { stringifyJson } from '../../src/shared/json/json';
import { TestService } from '../support/service';

describe('Outside /v1', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start({ STAGING_BASE_URL: 'https://staging.example.com/v1' });
  });
  afterAll(() => service.close());

  it.each(['/healthz', '/readyz', '/docs', '/docs/errors', '/docs/reference', '/docs/swagger-ui.css', '/openapi.json'])(
    '%s needs no key and has no rate limit',
    async (path) => {
      const response = await service.get(path);
      expect(response.status).toBe(200);
      expect(response.headers['x-ratelimit-limit']).toBeUndefined();
    },
  );

  it('the OpenAPI document equals openapi.json, which `npm run openapi` writes', async () => {
    const own = await TestService.start({
      PUBLIC_BASE_URL: 'https://api.petstore.example/v1',
      STAGING_BASE_URL: 'https://staging.petstore.example/v1',
    });
    const { text } = await own.get('/openapi.json');
    await own.close();
    const committed = await readFile(join(__dirname, '../../openapi.json'), 'utf8');
    expect(JSON.parse(text)).toEqual(JSON.parse(committed));
    expect(committed).toContain('"maximum": 9223372036854775807');
  });

  it('the OpenAPI document has no quotes in patterns of parameters, which some generators copy into strings', async () => {
    const { parameters = {} } = ((await service.get('/openapi.json')).body as OpenAPIObject).components ?? {};
    const patterns = Object.values(parameters).map((parameter) =>
      stringifyJson('schema' in parameter && parameter.schema),
    );
    expect(patterns).toContainEqual(expect.stringContaining('"pattern":'));
    expect(patterns.filter((schema) => schema.includes('\\"'))).toEqual([]);
  });
});
