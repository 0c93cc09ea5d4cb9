import { EventEmitter, once } from 'node:events';
import { PetsService } from '../../src/pets';
import { ServiceUnavailableError } from '../../src/shared/domain/pet-store-error';
import { TypeOrmUnitOfWork } from '../../src/shared/persistence/typeorm-unit-of-work';
import { VisitStore } from '../extending/visit-store';
import { onEnd } from '../support/cleanup';
import { getCode } from '../support/service';
import { Server } from './support/servers';

describe('On two replicas, a custom module', () => {
  let stores: [VisitStore, VisitStore];

  beforeAll(async () => {
    const postgres = await Server.startPostgres();
    const env = { DATABASE_URL: postgres.url, APP_ENV: 'production' };
    stores = [await VisitStore.start(env), await VisitStore.start(env)];
    stores.forEach((store) => {
      onEnd(() => store.close());
    });
  });

  it('that locks the animal accepts one of twenty concurrent visits and rejects the others', async () => {
    for (let round = 0; round < 10; round++) {
      const petId = Number(await stores[0].addPet());
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          stores[index % 2 === 0 ? 0 : 1].call('POST', '/v1/visits', {
            petId,
            startsAt: new Date(Date.UTC(2027, 0, 1, 9, index % 10)),
            endsAt: new Date(Date.UTC(2027, 0, 1, 10, index % 10)),
          }),
        ),
      );
      const rejected = responses.filter(({ status }) => status !== 201);
      expect(rejected.map((response) => [response.status, getCode(response)])).toEqual(
        Array(19).fill([409, 'conflict']),
      );
    }
  });

  it('that locks animals in different orders gets a 503 for a deadlock, and its changes are rolled back', async () => {
    const [store] = stores;
    const [pets, unitOfWork] = [store.app.get(PetsService), store.app.get(TypeOrmUnitOfWork)];
    const [one, other] = [await store.addPet(), await store.addPet()];
    let lockedFirst = 0;
    const bothLocked = new EventEmitter();
    const reserve = (first: bigint, second: bigint) =>
      unitOfWork.run(async () => {
        await unitOfWork.manager.query(`SET LOCAL deadlock_timeout = '10ms'`);
        const both = once(bothLocked, 'both');
        await pets.reserve(first);
        if (++lockedFirst === 2) {
          bothLocked.emit('both');
        }
        await both;
        return pets.reserve(second);
      });
    const outcomes = await Promise.allSettled([reserve(one, other), reserve(other, one)]);
    expect(outcomes).toContainEqual({ status: 'fulfilled', value: 'reserved' });
    expect(outcomes).toContainEqual({ status: 'rejected', reason: expect.any(ServiceUnavailableError) as unknown });
    expect((await pets.get(one)).status).toBe('pending');
  });
});
