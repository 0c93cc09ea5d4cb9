import { BASE_URL, getCode, TestService } from '../support/service';

const DEPRECATION_LINKS = new RegExp(
  `^<https://api.example.com/docs/reference#/pets/getPet>; rel="deprecation"; type="text/html", <${BASE_URL}/pets>; rel="successor-version"`,
);

describe('GET /v1/pets/{petId}', () => {
  let service: TestService;
  let key: string;
  let pet: { id: number };

  beforeAll(async () => {
    service = await TestService.start();
    key = await service.createKey();
    pet = (await service.post('/v1/pets', { key, body: { name: 'Rex', categoryId: 3 } })).body as { id: number };
  });
  afterAll(() => service.close());

  const expectDeprecation = (headers: Readonly<Record<string, string>>) => {
    expect(headers.deprecation).toBe('@1795219200');
    expect(headers.sunset).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
    expect(headers.link).toMatch(DEPRECATION_LINKS);
  };

  it('200: returns the animal, and announces the removal of the operation', async () => {
    const response = await service.get(`/v1/pets/${pet.id}`, { key });
    expect([response.status, response.body]).toEqual([200, pet]);
    expectDeprecation(response.headers);
  });

  it.each([
    ...['999', '0', '-1', '01', '+1', '1.0', '1e0', '0x1', 'abc', '%31%20', '٣'],
    ...['9223372036854775807', '9223372036854775808', 'a'.repeat(5_000)],
  ])('404: %s is not the ID of an animal', async (petId) => {
    const response = await service.get(`/v1/pets/${encodeURI(petId).replace(/%25/g, '%')}`, { key });
    expect([response.status, getCode(response)]).toEqual([404, 'pet_not_found']);
    expectDeprecation(response.headers);
  });

  it('401: does not mention the deprecation to callers without a key', async () => {
    const response = await service.get(`/v1/pets/${pet.id}`);
    expect(response.status).toBe(401);
    expect(response.headers.deprecation).toBeUndefined();
  });
});
