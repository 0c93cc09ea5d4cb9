import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTemporaryDirectory } from '../support/process';
import { Client, type Reply } from './support/client';
import { startCaddy, startGateway, startHaproxy } from './support/gateway';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

const REPLICAS = 3;
const DRAIN_SECONDS = 2;

describe('Three replicas behind the gateway', () => {
  let postgres: Server;
  let gateway: Server;
  let store: Store;
  let replicas: Replica[];
  let key: string;

  beforeAll(async () => {
    postgres = await Server.startPostgres();
    const redis = await Server.startRedis();
    store = await Store.open(postgres.url);
    replicas = await Replica.startAll(REPLICAS, {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      TRUST_PROXY: '1',
      DRAIN_SECONDS: `${DRAIN_SECONDS}`,
    });
    gateway = await startGateway(replicas.map(({ port }) => port));
    key = await store.createUnlimitedKey();
  });

  /** Starts workers that send one request after another until `end` is called. */
  const startLoad = <T>(workers: number, send: (worker: number, count: number) => Promise<T>) => {
    let isOver = false;
    const results: T[] = [];
    const work = async (worker: number) => {
      for (let count = 0; !isOver; count++) {
        results.push(await send(worker, count));
      }
    };
    const all = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
    return {
      results,
      end: async () => {
        isOver = true;
        await all;
      },
    };
  };
  const readStoredNames = async () =>
    (await store.query<{ name: string }[]>('SELECT name FROM pets')).map(({ name }) => name);

  /** Sets the state of a replica through the socket of HAProxy, like an orchestrator. */
  const setState = async (socketPath: string, port: number, state: 'ready' | 'maint') => {
    const socket = connect(socketPath, () => socket.end(`set server replicas/replica-${port} state ${state}\n`));
    await once(socket.resume(), 'close');
  };

  it('lose no request, not even a creation without an Idempotency-Key, in a rolling restart, behind each gateway', async () => {
    const socketPath = join((await createTemporaryDirectory()).path, 'haproxy.sock');
    const ports = replicas.map(({ port }) => port);
    const gateways = {
      'nginx, which retries requests and does not check readiness': await startGateway(ports),
      'HAProxy, which checks readiness and does not retry': await startHaproxy(ports),
      'Caddy, which checks readiness and does not retry': await startCaddy(ports),
      'one that does neither and is reconfigured half a second after the drain': await startHaproxy(ports, socketPath),
    };
    const client = new Client(key);
    const loads = Object.entries(gateways).map(([name, { port }]) => ({
      name,
      load: startLoad(2, (worker, count) =>
        count % 2 === 0 ? client.call(port) : client.add(port, `${name} ${worker} ${count}`),
      ),
    }));
    const codes: (number | null)[] = [];
    for (const [index, replica] of replicas.entries()) {
      const stopped = replica.program.kill('SIGTERM');
      await sleep(DRAIN_SECONDS * 1_000 + 500);
      await setState(socketPath, replica.port, 'maint');
      codes.push((await stopped).code);
      replicas[index] = await replica.restart();
      await setState(socketPath, replica.port, 'ready');
    }
    await Promise.all(loads.map(({ load }) => load.end()));
    await Promise.all(Object.values(gateways).map((each) => each.remove()));
    expect(codes).toEqual(replicas.map(() => 0));
    const names = await readStoredNames();
    for (const { name, load } of loads) {
      const failed = load.results.filter(({ status }) => status !== 200 && status !== 201);
      expect([name, failed]).toEqual([name, []]);
      expect(load.results.length).toBeGreaterThan(200);
      const created = load.results.filter(({ status }) => status === 201);
      expect(names.filter((stored) => stored.startsWith(name))).toHaveLength(created.length);
    }
  }, 120_000);

  it('create exactly one animal per Idempotency-Key while clients retry, replicas are killed and PostgreSQL freezes', async () => {
    const client = new Client(key);
    let retries = 0;
    const addWithRetries = async (name: string): Promise<Reply> => {
      for (;;) {
        const reply = await client.add(gateway.port, name, { 'idempotency-key': name }).catch(() => undefined);
        if (reply !== undefined && reply.status !== 503) {
          return reply;
        }
        retries++;
      }
    };
    const load = startLoad(16, (worker, count) => addWithRetries(`intent-${worker}-${count}`));
    const waitForMore = (animals: number) => {
      const goal = load.results.length + animals;
      return eventually(20_000, () => load.results.length >= goal);
    };
    for (const [index, replica] of replicas.entries()) {
      await waitForMore(100);
      await replica.program.kill('SIGKILL');
      const again = replica.restart();
      postgres.freeze();
      const goal = retries + 16;
      await eventually(10_000, () => retries >= goal);
      postgres.thaw();
      replicas[index] = await again;
    }
    await waitForMore(100);
    await load.end();
    expect(new Set(load.results.map(({ status }) => status))).toEqual(new Set([201]));
    const stored = (await readStoredNames()).filter((name) => name.startsWith('intent-')).sort();
    const intents = load.results.map(({ body }) => (JSON.parse(body) as { name: string }).name).sort();
    expect(stored).toEqual(intents);
  }, 120_000);
});
