import { PetRepository } from '../domain/pet.repository';
import { TestService } from '../../../test/support/service';

describe('TypeOrmPetRepository, which inserts in batches', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it('adds 500 concurrent animals, each with its own ID', async () => {
    const pets = service.app.get(PetRepository);
    const added = await Promise.all(
      Array.from({ length: 500 }, (_, i) => pets.add({ name: `Animal ${i}`, categoryId: BigInt(i), status: 'sold' })),
    );
    expect(new Set(added.map(({ id }) => id)).size).toBe(500);
  });
});
