import { findDocumentedMethods } from '../support/documented-methods';
import { parseRateLimit, TestService } from '../support/service';

describe('CORS', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it.each(['/v1/pets', '/v1/pets/1'])('allows a preflight of %s without a key, and does not count it', async (path) => {
    const headers = {
      origin: 'https://shop.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    };
    const response = await service.call('OPTIONS', path, { headers });
    expect(response.status).toBe(204);
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-allow-methods']).toBe(findDocumentedMethods().join(', '));
    expect(response.headers['content-length']).toBeUndefined();
    expect(response.headers['access-control-allow-headers']).toBe('authorization,content-type');
    expect(response.headers['x-request-id']).toBeDefined();
    expect(parseRateLimit(response).remaining).toBe(60);
    expect(parseRateLimit(await service.call('OPTIONS', path, { headers })).remaining).toBe(60);
  });
});
