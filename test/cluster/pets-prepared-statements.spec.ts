import pg from 'pg';
import { Client } from './support/client';
import { Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

/** What animals owe to the prepared statements that they are read by. */
describe('While animals cannot be read', () => {
  let postgres: Server;
  let store: Store;
  let another: pg.Client;
  let replica: Replica;
  let client: Client;

  beforeEach(async () => {
    postgres = await Server.postgres();
    store = await Store.open(postgres.url);
    another = new pg.Client(postgres.url);
    await another.connect();
    replica = await Replica.start({ DATABASE_URL: postgres.url });
    client = new Client(await store.createUnlimitedKey());
  });
  afterEach(async () => {
    client.close();
    await replica.program.kill('SIGKILL');
    await another.end();
    await store.close();
    await postgres.remove();
  });

  it('orders are read: animals wait on some of the connections only', async () => {
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
