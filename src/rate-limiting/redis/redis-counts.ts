import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RateLimitSettings, Settings } from '../../config/settings';
import type { Principal } from '../../shared/domain/principal';
import type { AccountWindows, Window } from '../domain/windows';
import type { PendingUsage } from '../memory/memory-rate-limiter';
import { COUNT_AUTH_FAILURE, COUNT_REQUESTS, PROBE, MERGE_USAGE, type Script, SCRIPTS } from './scripts';

const RECONNECT_MS = 200;
const CONNECT_TIMEOUT_MS = 1_000;

/** Whose requests are counted. */
export type RateLimitSubject = Pick<Principal, 'accountId' | 'keyId' | 'allowance' | 'unbanCount'>;

/** How Redis answered about requests of a key. Times in ms since the epoch, by Redis's clock. */
export interface RequestCount {
  readonly now: number;
  /** How many of them it admitted, the first ones. */
  readonly admissions: number;
  /** How many of the next ones it refused. */
  readonly refusals: number;
  /** The end of the ban that meets the rest, if there is a rest. */
  readonly bannedUntil: number;
  /** After that; all 0 when the key was banned before, and not by one of these requests. */
  readonly windows: AccountWindows;
}

export interface AuthFailureCount {
  readonly now: number;
  readonly isAdmitted: boolean;
  readonly window: Window;
}

/**
 * The counts that all replicas share, in Redis or Redis Cluster. Each call is one atomic script and one round trip; calls
 * made in one turn of the event loop go out together. Every key expires with what it counts. A call fails at once when
 * there is no connection; it never waits for one.
 */
export class RedisCounts {
  private readonly redis: Redis | Cluster;

  /** @param fixedNow the time instead of Redis's, for tests */
  constructor(
    urls: readonly string[],
    private readonly keyPrefix: string,
    private readonly settings: RateLimitSettings,
    private readonly fixedNow: () => number | '' = () => '',
  ) {
    this.redis = connection(urls);
    // Without a listener ioredis prints each error; what matters is how the calls fail.
    this.redis.on('error', () => undefined);
    this.redis.on('ready', () => {
      // Where this fails, or another node of a cluster is asked, `run` sends the source.
      SCRIPTS.forEach(({ source }) => void this.redis.script('LOAD', source).catch(() => undefined));
    });
  }

  /** Those of the replicas with these settings. */
  static of({ redisUrls, environment, rateLimits }: Settings): RedisCounts {
    return new RedisCounts(redisUrls, `petstore:${environment}:`, rateLimits);
  }

  /** Begins to connect, and goes on trying until `close`. @throws when the first attempt fails */
  async connect(): Promise<void> {
    await this.redis.connect();
  }

  /** Gives a connection up that does not answer, for a new one. */
  reconnect(): void {
    this.redis.disconnect(true);
  }

  close(): void {
    this.redis.disconnect();
  }

  /** Counts some requests of one key. With none, it changes nothing, and tells what would meet the next one. */
  async countRequests(
    { accountId, keyId, allowance, unbanCount }: RateLimitSubject,
    requests: number,
  ): Promise<RequestCount> {
    const { banWindowSeconds, banMemorySeconds, banDurationsSeconds } = this.settings;
    const [now, admissions, refusals, bannedUntil, minuteEndsAt, minuteUsed, dayEndsAt, dayUsed] = (await this.run(
      COUNT_REQUESTS,
      [this.accountKey(accountId), `${this.keyPrefix}{${accountId}}:key:${keyId}`],
      [
        requests,
        allowance.perMinute,
        allowance.perDay,
        unbanCount,
        banWindowSeconds * 1_000,
        banMemorySeconds * 1_000,
        ...banDurationsSeconds.map((seconds) => seconds * 1_000),
      ],
    )) as [number, number, number, number, number, number, number, number];
    return {
      now,
      admissions,
      refusals,
      bannedUntil,
      windows: {
        minute: { limit: allowance.perMinute, used: minuteUsed, endsAt: minuteEndsAt },
        day: { limit: allowance.perDay, used: dayUsed, endsAt: dayEndsAt },
      },
    };
  }

  async countAuthFailure(network: string, cost: 0 | 1): Promise<AuthFailureCount> {
    const limit = this.settings.authFailuresPerMinute;
    const key = `${this.keyPrefix}{${network}}:address`;
    const [now, passes, endsAt, used] = (await this.run(COUNT_AUTH_FAILURE, [key], [limit, cost])) as [
      number,
      number,
      number,
      number,
    ];
    return { now, isAdmitted: passes === 1, window: { limit, used, endsAt } };
  }

  /** Adds what a replica admitted by itself. */
  async report({ accountId, minuteEndsAt, minute, dayEndsAt, day }: PendingUsage): Promise<void> {
    await this.run(MERGE_USAGE, [this.accountKey(accountId)], [minuteEndsAt, minute, dayEndsAt, day]);
  }

  /** Finds out whether Redis takes writes. @returns its time */
  async probe(): Promise<number> {
    return (await this.run(PROBE, [`${this.keyPrefix}probe`], [])) as number;
  }

  /** The braces are Redis Cluster's hash tag: all keys of an account are on one node. */
  private accountKey(accountId: bigint): string {
    return `${this.keyPrefix}{${accountId}}:windows`;
  }

  private async run({ sha1, source }: Script, keys: string[], values: number[]): Promise<unknown> {
    const args = [keys.length, ...keys, this.fixedNow(), ...values] as const;
    try {
      return await this.redis.evalsha(sha1, ...args);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) {
        return this.redis.eval(source, ...args);
      }
      throw error;
    }
  }
}

function connection(urls: readonly string[]): Redis | Cluster {
  const [first = ''] = urls;
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
  };
  const reconnectDelay = () => RECONNECT_MS;
  if (urls.length === 1) {
    return new Redis(first, { ...options, enableAutoPipelining: true, retryStrategy: reconnectDelay });
  }
  const { username, password, protocol } = new URL(first);
  return new Cluster([...urls], {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    clusterRetryStrategy: reconnectDelay,
    redisOptions: {
      ...options,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
  });
}
