import { setTimeout as sleep } from 'node:timers/promises';
import { encodeCursor } from '../../src/shared/http/pagination/cursor';
import { cleanUp } from '../support/cleanup';
import { Client, type Reply } from './support/client';
import { type Cluster, startCluster } from './support/cluster';
import { startLoad } from './support/load';
import { Proxy } from './support/proxy';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';

const CLIENTS = 48;
const PETS = 2_000;
/** Per way to connect. */
const RESPONSES = Number(process.env.RESPONSES ?? 10_000);
const FIRST_LIMIT = 1_000_000;

interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
}

/** A request, and what shows that a response belongs to another. */
interface Probe {
  readonly send: (client: Client, port: number) => Promise<Reply>;
  readonly isOwn: (body: string) => boolean;
}

const isPet = ({ name, categoryId }: Pet, id: number) => name === `Animal ${id}` && categoryId === id;
const isPage = (body: string, after: number, limit: number) => {
  const pets = JSON.parse(body) as Pet[];
  return pets.length === limit && pets.every((pet, index) => pet.id === after + index + 1 && isPet(pet, pet.id));
};
const pickNumber = (below: number) => Math.floor(Math.random() * below);

describe.each(['directly', 'through PgBouncer in session mode', 'through PgBouncer in transaction mode'])(
  'While locks, cancellations, lost connections, timeouts, restarts and clients that leave disturb two replicas connected %s',
  (way) => {
    const mode = /(session|transaction) mode/.exec(way)?.[1] as 'session' | 'transaction' | undefined;
    let { postgres, store, client } = {} as Cluster;
    let proxy: Proxy;
    let replicas: Replica[];
    let clients: Client[];

    beforeAll(async () => {
      ({ postgres, store, client } = await startCluster({ replicas: 0 }));
      let pooler: Server | undefined;
      if (mode !== undefined) {
        pooler = await Server.startPgbouncer(postgres, mode, mode === 'session' ? 20 : 3);
        await store.query(
          `ALTER DATABASE postgres SET statement_timeout = '1s'; ALTER DATABASE postgres SET lock_timeout = '500ms'`,
        );
      }
      await store.query(
        `INSERT INTO pets (name, category_id, status) SELECT 'Animal ' || i, i, 'available' FROM generate_series(1, $1::int) AS i`,
        [PETS],
      );
      // Each account has a limit of its own, which its responses show.
      clients = [];
      for (let index = 0; index < CLIENTS; index++) {
        const limits = { perMinute: FIRST_LIMIT + index, perDay: 1_000 * FIRST_LIMIT };
        clients.push(new Client(await store.createKey('enterprise', limits)));
      }
      proxy = await Proxy.start((pooler ?? postgres).port);
      const env = {
        DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
        DATABASE_MIGRATION_URL: `${postgres.url}/postgres`,
        ...(mode !== undefined && { DATABASE_POOLER_MODE: mode }),
      };
      replicas = await Replica.startAll(2, env);
      await eventually(20_000, async () => (await Promise.all(replicas.map((each) => each.isReady()))).every(Boolean));
    });
    afterAll(cleanUp);

    const createProbe = (number: number): Probe => {
      const id = 1 + pickNumber(PETS - 200);
      switch (number % 4) {
        case 0:
          return {
            send: (client, port) => client.call(port, { path: `/v1/pets/${id}` }),
            isOwn: (body) => isPet(JSON.parse(body) as Pet, id),
          };
        case 1: {
          const name = `Created ${number}`;
          const hasKey = number % 8 === 1;
          return {
            send: (client, port) => (hasKey ? addWithRetries(client, port, name) : client.add(port, name)),
            isOwn: (body) => (JSON.parse(body) as Pet).name === name,
          };
        }
        default: {
          const limit = 1 + pickNumber(100);
          const filter = number % 4 === 2 ? '&status=available' : '';
          const path = `/v1/pets?limit=${limit}${filter}&cursor=${encodeCursor(BigInt(id), filter)}`;
          return {
            send: (client, port) => client.call(port, { path }),
            isOwn: (body) => isPage(body, id, limit),
          };
        }
      }
    };

    const addWithRetries = async (client: Client, port: number, name: string): Promise<Reply> => {
      const reply = await client.add(port, name, { 'idempotency-key': name.replace(' ', '-') });
      return reply.status === 503 ? addWithRetries(client, port, name) : reply;
    };

    /** Runs statements in a session of its own, which is then closed. */
    const disturb = async (sql: string, ms = 0) => {
      const session = await postgres.openSession();
      await session.query(sql);
      await sleep(ms);
      await session.end();
    };
    const disturbances: (() => Promise<unknown>)[] = [
      () => disturb('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE', pickNumber(700)),
      ...['pg_cancel_backend', 'pg_terminate_backend'].map(
        (name) => () =>
          disturb(`SELECT ${name}(pid) FROM pg_stat_activity WHERE application_name = 'petstore' AND random() < 0.3`),
      ),
      () => proxy.closeConnections('RST'),
      () => proxy.closeConnections('FIN'),
      // PgBouncer would not connect to a restarted server for 15 s.
      () => (mode === undefined ? postgres.stop().then(() => postgres.start()) : Promise.resolve()),
      // Cached keys are looked up again.
      () => disturb('UPDATE accounts SET created_at = created_at'),
      async () => {
        postgres.freeze();
        await sleep(pickNumber(1_500));
        postgres.thaw();
      },
    ];

    it('no response belongs to another request, and nothing acknowledged is lost or created twice', async () => {
      let verified = 0;
      const wrong: string[] = [];
      const acknowledged: number[] = [];
      const statuses = new Set<number>();
      const work = async (client: Client, index: number) => {
        for (let count = 0; verified < RESPONSES; count++) {
          const probe = createProbe(count * CLIENTS + index);
          const sent = probe.send(client, replicas[count % 2]?.port ?? 0);
          if (pickNumber(50) === 0) {
            client.close();
          }
          const reply = await sent.catch(() => undefined);
          if (reply === undefined) {
            continue;
          }
          statuses.add(reply.status);
          if (reply.status < 300) {
            verified++;
            const limit = reply.headers['x-ratelimit-limit'];
            if (!isOwnSafely(probe, reply.body) || limit !== `${FIRST_LIMIT + index}`) {
              wrong.push(`${reply.status} ${limit} ${reply.body.slice(0, 200)}`);
            } else if (reply.status === 201) {
              acknowledged.push((JSON.parse(reply.body) as Pet).id);
            }
          }
        }
      };
      const disturbing = startLoad(1, async () => {
        await sleep(300 + pickNumber(1_200));
        await disturbances[pickNumber(disturbances.length)]?.();
      });
      await Promise.all(clients.map(work));
      await disturbing.end();
      expect(wrong).toEqual([]);
      expect([200, 201, 503]).toEqual(expect.arrayContaining([...statuses]));
      for (const { port } of replicas) {
        // A replica or PgBouncer may not have noticed yet that a connection is lost. A write on it is not repeated.
        await eventually(2_000, async () => (await client.add(port, 'Last')).status === 201);
      }
      // What was created is what was sent, once.
      const created = await store.query<{ id: string; name: string }[]>('SELECT id, name FROM pets WHERE id > $1', [
        PETS,
      ]);
      const names = created.map(({ name }) => name).filter((name) => name !== 'Last');
      expect(names.filter((name) => !name.startsWith('Created '))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
      const ids = new Set(created.map(({ id }) => Number(id)));
      expect(acknowledged.length).toBeGreaterThan(RESPONSES / 20);
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    }, 300_000);
  },
);

function isOwnSafely({ isOwn }: Probe, body: string): boolean {
  try {
    return isOwn(body);
  } catch {
    return false;
  }
}
