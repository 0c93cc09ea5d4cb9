import { documentedMethods } from '../support/documented-methods';
import { rate, TestService } from '../support/service';

describe('CORS', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it.each(['/v1/pets', '/v1/pets/1'])('a preflight of %s needs no key and costs nothing', async (path) => {
    const headers = {
      origin: 'https://shop.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    };
    const response = await service.call('OPTIONS', path, { headers });
    expect(response.status).toBe(204);
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-allow-methods']).toBe(documentedMethods().join(', '));
    expect(response.headers['content-length']).toBeUndefined();
    expect(response.headers['access-control-allow-headers']).toBe('authorization,content-type');
    expect(response.headers['x-request-id']).toBeDefined();
    expect(rate(response).remaining).toBe(60);
    expect(rate(await service.call('OPTIONS', path, { headers })).remaining).toBe(60);
  });

  it('lets a page of another origin read every header, including those of errors', async () => {
    const { status, headers } = await service.get('/v1/pets', { headers: { origin: 'https://shop.example' } });
    expect(status).toBe(401);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']?.split(', ')).toEqual(
      expect.arrayContaining(['X-RateLimit-Remaining', 'Retry-After', 'Link', 'Location', 'X-Request-Id']),
    );
  });
});
