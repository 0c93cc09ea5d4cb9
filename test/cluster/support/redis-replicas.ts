import { Replica } from './replica';
import { Server } from './servers';
import { Store } from './store';

/** Starts replicas with one PostgreSQL server and one Redis server, one for each environment, and a connection to Redis. */
export async function startRedisReplicas(envs: readonly Readonly<Record<string, string>>[]) {
  const [redis, postgres] = await Promise.all([Server.startRedis(), Server.startPostgres()]);
  const shared = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  const replicas = await Promise.all(envs.map((env) => Replica.start({ ...shared, ...env })));
  const store = await Store.open(postgres.url);
  const admin = redis.openRedis();
  /** Spreads requests over the replicas. */
  const getPort = (index: number) => replicas[index % replicas.length]?.port ?? 0;
  return { replicas, store, admin, getPort };
}

export type RedisReplicas = Awaited<ReturnType<typeof startRedisReplicas>>;
