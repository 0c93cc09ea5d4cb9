import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { readCertificate, readClientCertificate } from '../../config/certificates';
import { InvalidSettingsError, type Settings } from '../../config/settings';
import { REDIS_SETTINGS } from '../settings/redis-settings';

const RECONNECT_DELAY_MS = 200;
const CONNECT_TIMEOUT_MS = 1_000;
/** A connection is closed when a response is due and nothing arrives for this long. */
const SOCKET_TIMEOUT_MS = 1_000;
/** The client tries the next sentinel when one does not respond for this long. */
const SENTINEL_COMMAND_TIMEOUT_MS = 500;
/** How soon a replica learns which nodes a cluster has. */
const SLOTS_REFRESH_INTERVAL_MS = 1_000;
const DEFAULT_PORT = 6_379;
const DEFAULT_SENTINEL_PORT = 26_379;

/**
 * Creates a client for the Redis server, Redis Cluster or sentinels in REDIS_URL. It does not connect yet.
 * @param urls one per host
 * @param tls used if the URLs request TLS
 */
export function createRedisClient(urls: readonly string[], tls: ConnectionOptions = {}): Redis | Cluster {
  const [first = ''] = urls;
  const { protocol, username, password, pathname, searchParams } = new URL(first);
  const isSentinel = protocol.endsWith('+sentinel:');
  // Without the other parts of the URLs: the client would accept any of its options as a parameter.
  const hosts = urls.map((url) => {
    const { hostname, port } = new URL(url);
    const defaultPort = isSentinel ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT;
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
  });
  const credentials = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
  const usesTls = protocol.startsWith('rediss');
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Otherwise an ACL would have to allow the commands that announce the client on each connection.
    disableClientInfo: true,
    ...(usesTls && { tls }),
  };
  const getReconnectDelay = () => RECONNECT_DELAY_MS;
  // Without automatic pipelining, which sends the calls of a tick only after the replies to the previous ones, so that Redis would idle.
  const singleNodeOptions: RedisOptions = {
    ...{ ...options, ...credentials },
    db: Number(pathname.slice(1)),
    retryStrategy: getReconnectDelay,
  };
  if (isSentinel) {
    const [sentinelUsername, sentinelPassword] = ['sentinelUsername', 'sentinelPassword'].map((name) =>
      searchParams.get(name),
    );
    return new Redis({
      ...singleNodeOptions,
      sentinels: hosts,
      name: searchParams.get('name') ?? '',
      ...(sentinelUsername && { sentinelUsername }),
      ...(sentinelPassword && { sentinelPassword }),
      ...(usesTls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
      sentinelCommandTimeout: SENTINEL_COMMAND_TIMEOUT_MS,
      sentinelRetryStrategy: getReconnectDelay,
    });
  }
  if (urls.length === 1 && !protocol.endsWith('+cluster:')) {
    return new Redis({ ...singleNodeOptions, ...hosts[0] });
  }
  return new Cluster(hosts, {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    // The circuit breakers detect which nodes are available.
    enableReadyCheck: false,
    clusterRetryStrategy: getReconnectDelay,
    // Otherwise the address of a node that has moved would become known only by errors of other nodes.
    slotsRefreshInterval: SLOTS_REFRESH_INTERVAL_MS,
    // Certificates name the host, so it must not be replaced by its IP address.
    dnsLookup: (host, callback) => {
      callback(null, host);
    },
    // Calls to an unavailable node fail fast; the breaker decides when to retry.
    maxRedirections: 4,
    // Redis may have executed a call whose connection broke: repeated, it would count twice.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    redisOptions: { ...options, ...credentials },
  });
}

/** Returns the user name that a client authenticates with. */
export function getRedisUser({ options }: Redis | Cluster): string {
  // Without a user name, it is undefined in a cluster, and null for a single server.
  const { username }: { readonly username?: string | null } =
    'redisOptions' in options ? (options.redisOptions ?? {}) : (options as RedisOptions);
  return username ?? 'default';
}

/**
 * Reads the certificate files in the settings once.
 * @throws InvalidSettingsError when a file cannot be read or used, or REDIS_URL does not use TLS
 */
export function readTlsOptions(settings: Settings): ConnectionOptions {
  const { caFile, certFile, keyFile } = settings.get(REDIS_SETTINGS);
  if ((caFile ?? certFile ?? keyFile) === undefined) {
    return {};
  }
  if (settings.redisUrls[0]?.startsWith('rediss') === false) {
    throw new InvalidSettingsError(
      'REDIS_URL must begin with rediss, because its certificates have no effect without TLS.',
    );
  }
  return {
    ...(caFile !== undefined && { ca: readCertificate('REDIS_CA_FILE', caFile) }),
    ...readClientCertificate('REDIS', certFile, keyFile),
  };
}
