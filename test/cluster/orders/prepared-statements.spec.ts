import { startCluster } from '../support/cluster';

describe('While the table of animals is locked', () => {
  it('orders can still be read, because queries for animals occupy only some of the connections', async () => {
    const { postgres, client, replica } = await startCluster();
    const otherSession = await postgres.openSession();
    // No statement that reads animals has been prepared yet, so preparing it waits for the lock too.
    await otherSession.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const until = performance.now() + 3_000;
    const collectStatuses = async (path: string) => {
      const found = new Set<number>();
      while (performance.now() < until) {
        found.add((await client.call(replica.port, { path })).status);
      }
      return found;
    };
    const [orders, ...animals] = await Promise.all([
      collectStatuses('/v1/store/orders'),
      ...Array.from({ length: 32 }, (_, index) => collectStatuses(index % 2 === 0 ? '/v1/pets' : '/v1/pets/1')),
    ]);
    await otherSession.query('ROLLBACK');
    expect(animals).toEqual(Array(32).fill(new Set([503])));
    expect(orders).toEqual(new Set([200]));
  });
});
