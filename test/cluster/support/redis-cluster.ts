import { findFreePort } from '../../support/process';
import { eventually } from './replica';
import { Server } from './servers';

const SLOTS = 16_384;

interface NodeOptions {
  /** The port for connections over TLS. */
  readonly tlsPort?: string;
  readonly options?: readonly string[];
}

/** Starts a Redis Cluster whose nodes have equal shares of the slots. */
export async function startRedisCluster(nodeOptions: readonly NodeOptions[] = [{}, {}, {}]): Promise<Server[]> {
  // The default port of the bus would be one that the system gives to clients.
  const nodes = await Promise.all(
    nodeOptions.map(async ({ tlsPort, options = [] }) => {
      const busPort = await findFreePort();
      const tls = tlsPort === undefined ? [] : ['--tls-port', tlsPort, '--tls-cluster', 'yes'];
      const cluster = ['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no', '--cluster-port', busPort];
      const server = await Server.startRedis(...cluster, ...tls, ...options);
      return { server, busPort, clientPort: tlsPort ?? server.port, admin: server.openRedis() };
    }),
  );
  const findFirstSlot = (index: number) => Math.ceil((SLOTS / nodes.length) * index);
  for (const [index, { admin, clientPort, busPort }] of nodes.entries()) {
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', findFirstSlot(index), findFirstSlot(index + 1) - 1);
    await nodes[0]?.admin.call('CLUSTER', 'MEET', '127.0.0.1', clientPort, busPort);
  }
  await eventually(20_000, async () => {
    const states = await Promise.all(nodes.map(({ admin }) => admin.cluster('INFO')));
    return states.every((state) => state.includes('cluster_state:ok') && state.includes(`cluster_slots_ok:${SLOTS}`));
  });
  return nodes.map(({ server }) => server);
}
