import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTemporaryDirectory } from '../support/process';
import { listStatuses, type Reply } from './support/client';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { startCaddy, startGateway, startHaproxy } from './support/gateway';
import { startLoad } from './support/load';
import { eventually } from './support/replica';
import type { Server } from './support/servers';

const REPLICAS = 3;
const DRAIN_SECONDS = 2;

describe('Three replicas behind the gateway', () => {
  let { postgres, store, replicas, client } = {} as ClusterWithRedis;
  let gateway: Server;

  beforeAll(async () => {
    const env = { TRUST_PROXY: '1', DRAIN_SECONDS: `${DRAIN_SECONDS}` };
    ({ postgres, store, replicas, client } = await startClusterWithRedis({ replicas: REPLICAS, env }));
    gateway = await startGateway(replicas.map(({ port }) => port));
  });

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

  it('create exactly one animal per Idempotency-Key, and lose none, while clients retry, replicas are killed and PostgreSQL freezes', async () => {
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
    expect(listStatuses(load.results)).toEqual([201]);
    const stored = await store.query<object[]>(
      `SELECT id::int, name, category_id::int AS "categoryId", status FROM pets WHERE name LIKE 'intent-%' ORDER BY id`,
    );
    const acknowledged = load.results.map(({ body }) => JSON.parse(body) as { id: number });
    expect(stored).toEqual(acknowledged.sort((a, b) => a.id - b.id));
  }, 120_000);
});
