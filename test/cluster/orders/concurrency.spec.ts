import { type Call, Client, getErrorCode, runConcurrently, filterSuccessful, type Reply } from '../support/client';
import { type Cluster, startCluster } from '../support/cluster';
import { eventually } from '../support/replica';

const ORDERS = '/v1/store/orders';

describe('On two replicas, fifty concurrent orders for one animal', () => {
  let { store, getPort } = {} as Cluster;
  let clients: readonly [Client, Client];

  beforeAll(async () => {
    const cluster = await startCluster({ replicas: 2 });
    ({ store, getPort } = cluster);
    clients = [cluster.client, new Client(await store.createUnlimitedKey())];
  });

  /** Chooses the account and the replica by the index, so that each account uses each replica. */
  const call = (index: number, request: Call) => {
    const client = index % 2 === 0 ? clients[0] : clients[1];
    return client.call(getPort(Math.floor(index / 2)), request);
  };
  const addPet = async () => (JSON.parse((await clients[0].add(getPort(0), 'Rex')).body) as { id: number }).id;
  const placeOrder = (index: number, petId: number, headers: Record<string, string> = {}) =>
    call(index, { method: 'POST', path: ORDERS, body: { petId, quantity: 1 + (index % 100) }, headers });

  it.each([
    ['without Idempotency-Keys', () => ({})],
    [
      'each with its own Idempotency-Key',
      (petId: number, index: number) => ({ 'idempotency-key': `${petId}-${index}` }),
    ],
  ])('place exactly one and make the animal pending, %s', async (_, createHeaders) => {
    for (let round = 0; round < 5; round++) {
      const petId = await addPet();
      const replies = await runConcurrently(50, 50, (index) => placeOrder(index, petId, createHeaders(petId, index)));
      expect(filterSuccessful(replies).map(({ status }) => status)).toEqual([201]);
      const others = replies.filter(({ status }) => status !== 201);
      expect(others.map((reply) => [reply.status, getErrorCode(reply)])).toEqual(
        Array(49).fill([409, 'pet_not_available']),
      );
      await expectOneOrder(petId, replies);
    }
  });

  it('place exactly one for one Idempotency-Key, and return it to every caller', async () => {
    const petId = await addPet();
    const replies = await runConcurrently(50, 50, (index) =>
      // Even indexes: one account on both replicas.
      call(2 * index, { method: 'POST', path: ORDERS, body: { petId }, headers: { 'idempotency-key': 'once' } }),
    );
    expect(new Set(replies.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect(replies.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    await expectOneOrder(petId, replies);
  });

  it('lose none that was placed, and place none twice, while connections to PostgreSQL are closed', async () => {
    const rows = await store.query<{ id: string }[]>(
      `INSERT INTO pets (name, category_id, status) SELECT 'Rex', 1, 'available' FROM generate_series(1, 400) RETURNING id`,
    );
    const replies: Reply[] = [];
    const pending = new Set(rows.map(({ id }) => Number(id)));
    const place = async (index: number) => {
      const petId = Number(rows[index]?.id);
      while (pending.has(petId)) {
        const reply = await placeOrder(index, petId);
        replies.push(reply);
        if (reply.status !== 503) {
          pending.delete(petId);
        }
      }
    };
    const placing = runConcurrently(16, rows.length, place);
    while (pending.size > 0) {
      await store.terminateConnections();
      const terminatedAt = performance.now();
      await eventually(1_000, () => pending.size === 0 || performance.now() - terminatedAt >= 200);
    }
    await placing;
    expect(replies.filter(({ status }) => ![201, 409, 503].includes(status))).toEqual([]);
    const orders = await store.query<{ id: string; pet_id: string }[]>('SELECT id, pet_id FROM orders');
    const ids = new Set(orders.map(({ id }) => Number(id)));
    const placed = filterSuccessful(replies).map(({ body }) => (JSON.parse(body) as { id: number }).id);
    expect(placed.length).toBeGreaterThan(200);
    expect(placed.filter((id) => !ids.has(id))).toEqual([]);
    expect(new Set(orders.map((order) => order.pet_id)).size).toBe(orders.length);
  });

  async function expectOneOrder(petId: number, replies: readonly Reply[]): Promise<void> {
    const [placed] = filterSuccessful(replies);
    const { id } = JSON.parse(placed?.body ?? '') as { id: number };
    expect(await store.query('SELECT id FROM orders WHERE pet_id = $1', [petId])).toEqual([{ id: `${id}` }]);
    expect(await store.query('SELECT status FROM pets WHERE id = $1', [petId])).toEqual([{ status: 'pending' }]);
    const lists = await Promise.all([0, 1, 2, 3].map((index) => call(index, { path: `${ORDERS}?petId=${petId}` })));
    const found = lists.map(({ body }) => (JSON.parse(body) as { id: number }[]).map((each) => each.id));
    // The account that placed the order sees it on both replicas, the other account on none.
    expect(found.filter(([first]) => first === id)).toHaveLength(2);
    expect(found.filter((ids) => ids.length === 0)).toHaveLength(2);
  }
});
