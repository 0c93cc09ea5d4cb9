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

  it('the OpenAPI 3.1 document contains the operations, the schemas and the servers', async () => {
    const document = (await service.get('/openapi.json')).body as OpenAPIObject;
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/pets', '/pets/{petId}']));
    expect(document.paths['/pets']?.get?.operationId).toBe('listPets');
    expect(document.paths['/pets']?.post?.operationId).toBe('createPet');
    expect(document.paths['/pets/{petId}']?.get).toMatchObject({
      operationId: 'getPet',
      deprecated: true,
      'x-deprecated-sunset': '2030-12-05',
    });
    expect(document.paths['/pets']?.get?.deprecated).toBeUndefined();
    expect(Object.keys(document.components?.schemas ?? {})).toEqual(
      expect.arrayContaining(['Error', 'NewPet', 'Pet', 'PetStatus', 'Pets']),
    );
    expect(document.servers?.map(({ url }) => url)).toEqual([
      'https://api.example.com/v1',
      'https://staging.example.com/v1',
    ]);
    expect(document.components?.securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } });
    expect(document.security).toEqual([{ apiKey: [] }]);
  });

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

  it('the OpenAPI document has the statuses of each operation, with an example of every code', async () => {
    const { body, text } = await service.get('/openapi.json');
    const document = body as OpenAPIObject;
    const listStatuses = (path: string, method: 'get' | 'post') =>
      Object.keys(document.paths[path]?.[method]?.responses ?? {});
    const every = ['400', '401', '403', '408', '414', '429', '431', '500', '501', '503'];
    expect(listStatuses('/pets', 'get')).toEqual(['200', ...every].sort());
    expect(listStatuses('/pets', 'post')).toEqual(['201', '413', '415', ...every].sort());
    expect(listStatuses('/pets/{petId}', 'get')).toEqual(['200', '404', ...every].sort());
    for (const code of [
      'invalid_cursor',
      'expired_api_key',
      'key_temporarily_banned',
      'body_too_large',
      'pet_not_found',
    ]) {
      expect(text).toContain(`"code":"${code}"`);
    }
  });
});
