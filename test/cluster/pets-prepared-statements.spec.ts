import { type LockableReplica, startLockableReplica } from './support/lockable-replica';

/** What animals owe to the prepared statements that they are read by. */
describe('While animals cannot be read', () => {
  let lockable: LockableReplica;

  beforeEach(async () => {
    lockable = await startLockableReplica();
  });
  afterEach(() => lockable.remove());

  it('orders can be read, because queries for animals occupy only some of the connections', async () => {
    const { another, client, replica } = lockable;
    // No statement that reads animals has been planned yet: the first ones wait for the lock as well.
    await another.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const until = performance.now() + 3_000;
    const statuses = async (path: string) => {
      const found = new Set<number>();
      while (performance.now() < until) {
        found.add((await client.call(replica.port, { path })).status);
      }
      return found;
    };
    const [orders, ...animals] = await Promise.all([
      statuses('/v1/store/orders'),
      ...Array.from({ length: 32 }, (_, index) => statuses(index % 2 === 0 ? '/v1/pets' : '/v1/pets/1')),
    ]);
    await another.query('ROLLBACK');
    expect(animals).toEqual(Array(32).fill(new Set([503])));
    expect(orders).toEqual(new Set([200]));
  });
});
