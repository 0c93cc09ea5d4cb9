import { Client, filterSuccessful, runConcurrently } from './client';
import { Replica } from './replica';
import { Server } from './servers';
import { Store } from './store';

interface ClusterOptions {
  /** How many replicas to start, one by default. */
  readonly replicas?: number;
  /** The settings of the replicas, beside the URLs of the servers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts PostgreSQL and replicas that use it, and creates a client with a key whose limits no test reaches. */
export async function startCluster({ replicas: count = 1, env: settings = {} }: ClusterOptions = {}) {
  const postgres = await Server.startPostgres();
  const env: Record<string, string> = { DATABASE_URL: postgres.url, ...settings };
  const store = await Store.open(postgres.url);
  const client = new Client(await store.createUnlimitedKey());
  const replicas = await Replica.startAll(count, env);
  const [replica] = replicas as [Replica];
  /** Spreads requests over the replicas. */
  const getPort = (index: number) => replicas[index % replicas.length]?.port ?? NaN;
  /** Creates a key with a limit for the minute only. */
  const createLimitedKey = (perMinute: number) => store.createKey('enterprise', { perMinute, perDay: 100_000 });
  /** Sends requests with a key to all replicas. */
  const send = async (key: string, requests: number, workers = 20) => {
    const sender = new Client(key);
    const replies = await runConcurrently(workers, requests, (index) => sender.call(getPort(index)));
    sender.close();
    return replies;
  };
  /** Checks that all replicas together admit one request of an allowance of one. */
  const areLimitsShared = async () =>
    filterSuccessful(await send(await createLimitedKey(1), count, count)).length === 1;
  return { postgres, env, store, client, replicas, replica, getPort, createLimitedKey, send, areLimitsShared };
}

/** Starts a Redis server, too. `admin` is a connection to it. */
export async function startClusterWithRedis({ env, ...options }: ClusterOptions = {}) {
  const redis = await Server.startRedis();
  const cluster = await startCluster({ ...options, env: { REDIS_URL: redis.url, ...env } });
  return { ...cluster, redis, admin: redis.openRedis() };
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;
export type ClusterWithRedis = Awaited<ReturnType<typeof startClusterWithRedis>>;
