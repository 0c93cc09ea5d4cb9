import { randomUUID } from 'node:crypto';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { InvalidSettingsError, type Settings } from '../../config/settings';
import { RATE_LIMIT_SETTINGS, type RateLimitSettings } from '../rate-limit-settings';
import type { Principal } from '../../shared/domain/principal';
import { errorMessage } from '../../shared/domain/error-message';
import type { AccountWindows, Window } from '../domain/windows';
import type { PendingUsage } from '../memory/account-usage';
import { hashSlot } from './hash-slot';
import { COUNT_AUTH_FAILURE, COUNT_REQUESTS, PROBE, MERGE_USAGE, type Script, SCRIPTS } from './scripts';

/** Less than a millisecond of Redis's time. */
const MAX_TOGETHER = 50;
/** How many numbers COUNT_REQUESTS returns for each key. */
const COUNT_LENGTH = 7;
const RECONNECT_MS = 200;
const CONNECT_TIMEOUT_MS = 1_000;
/** A connection on which a reply is due, and nothing arrives for that long, is given up. */
const SILENCE_LIMIT_MS = 1_000;
/** How the client says that a call could not be sent, or its reply not be read. */
const NO_CONNECTION =
  /^(Connection is closed|Stream isn't writeable|Reached the max retries|Cluster isn't ready|MOVED )/;

/** Whose requests are counted. */
export type RateLimitSubject = Pick<Principal, 'accountId' | 'keyId' | 'allowance' | 'unbanCount'>;

/** Some requests that came with one key. */
export interface RequestsOfKey {
  readonly subject: RateLimitSubject;
  readonly requests: number;
}

/** How Redis answered about requests of a key. Times in ms since the epoch, by Redis's clock. */
export interface RequestCount {
  readonly now: number;
  /** How many of them it admitted, the first ones. */
  readonly admissions: number;
  /** How many of the next ones it refused. */
  readonly refusals: number;
  /** The end of the ban that meets the rest, if there is a rest. */
  readonly bannedUntil: number;
  /** Whether one of these requests brought that ban about. */
  readonly imposesBan: boolean;
  /** After that; all 0 when requests met a ban that was imposed before. */
  readonly windows: AccountWindows;
}

export interface AuthFailureCount {
  readonly now: number;
  readonly isAdmitted: boolean;
  readonly window: Window;
}

/**
 * The counts that all replicas share, in Redis or Redis Cluster. Each call is one atomic script and one round trip; calls
 * made in one tick of the event loop go out together, in a cluster those to each node. Every key expires with what it counts. A call fails at once when
 * there is no connection; it never waits for one.
 */
export class RedisCounts {
  private readonly redis: Redis | Cluster;
  /** Why the last attempt to connect failed. */
  private connectionError: Error | undefined;
  private readonly replica = randomUUID();
  private readonly banRules: readonly number[];
  /** How many keys one call may be about. In a cluster one: a script takes keys of one hash slot only. */
  maxTogether: number;

  /** @param fixedNow the time instead of Redis's, for tests */
  constructor(
    urls: readonly string[],
    private readonly keyPrefix: string,
    private readonly settings: RateLimitSettings,
    private readonly fixedNow: () => number | '' = () => '',
  ) {
    this.redis = connection(urls);
    this.maxTogether = this.redis instanceof Cluster ? 1 : MAX_TOGETHER;
    const { banWindowSeconds, banMemorySeconds, banDurationsSeconds } = settings;
    const durations = banDurationsSeconds.map((seconds) => seconds * 1_000);
    this.banRules = [banWindowSeconds * 1_000, banMemorySeconds * 1_000, durations.length, ...durations];
    this.redis.on('error', (error: Error & { readonly lastNodeError?: Error }) => {
      if (!isSelectError(this.connectionError)) {
        this.connectionError = error.lastNodeError ?? error;
      }
      if (isSelectError(error)) {
        // The client would continue with database 0, which may be somebody else's.
        this.redis.disconnect(true);
      }
    });
    this.redis.on('node error', (error: Error) => {
      this.connectionError = error;
    });
    this.redis.on('ready', () => {
      this.connectionError = undefined;
      // Where this fails, or another node of a cluster is asked, `run` sends the source.
      SCRIPTS.forEach(({ source }) => void this.redis.script('LOAD', source).catch(() => undefined));
    });
  }

  /** Those of the replicas with these settings. */
  static of(settings: Settings): RedisCounts {
    const { redisUrls, environment } = settings;
    return new RedisCounts(redisUrls, `petstore:${environment}:`, settings.of(RATE_LIMIT_SETTINGS));
  }

  /**
   * Begins to connect, and continues trying until `close`.
   * @throws InvalidSettingsError when Redis rejects the database number; the reason when the first attempt fails for another
   */
  async connect(): Promise<void> {
    try {
      await this.explained(this.redis.connect());
    } catch (error) {
      throw isSelectError(error)
        ? new InvalidSettingsError(
            `REDIS_URL names a database that Redis does not let the service use (${errorMessage(error)}).`,
          )
        : error;
    }
  }

  /** Gives up the connection to a node, for a new one. */
  reconnect(node: string): void {
    const { redis } = this;
    if (redis instanceof Cluster && node !== '') {
      redis
        .nodes()
        .find(({ options: { host, port } }) => `${host}:${port}` === node)
        ?.disconnect();
    } else if (redis.status === 'ready') {
      redis.disconnect(true);
    }
  }

  close(): void {
    this.redis.disconnect();
  }

  /**
   * Counts requests of some keys, `maxTogether` at most. Without requests of a key, it changes nothing of it, and tells what would
   * meet the next one. @returns a count for each key
   */
  async countRequests(batch: readonly RequestsOfKey[]): Promise<RequestCount[]> {
    const keys: string[] = [];
    const args = [...this.banRules];
    for (const { subject, requests } of batch) {
      const { accountId, keyId, allowance, unbanCount } = subject;
      keys.push(this.accountKey(accountId), `${this.keyPrefix}{${accountId}}:key:${keyId}`);
      args.push(requests, allowance.perMinute, allowance.perDay, unbanCount);
    }
    let reply: unknown;
    try {
      reply = await this.run(COUNT_REQUESTS, keys, args);
    } catch (error) {
      if (batch.length === 1 || !(error instanceof Error && error.message.startsWith('CROSSSLOT'))) {
        throw error;
      }
      // A proxy or a single node of a cluster: nothing was counted.
      this.maxTogether = 1;
      return (await Promise.all(batch.map((each) => this.countRequests([each])))).flat();
    }
    const [now, ...counts] = reply as [number, ...number[]];
    return batch.map(({ subject: { allowance }, requests }, index) => {
      const [admissions, refusals, bannedUntil, minuteEndsAt, minuteUsed, dayEndsAt, dayUsed] = counts.slice(
        index * COUNT_LENGTH,
        (index + 1) * COUNT_LENGTH,
      ) as [number, number, number, number, number, number, number];
      return {
        now,
        admissions,
        refusals,
        bannedUntil,
        // The script returns no windows for requests of a key that was banned before.
        imposesBan: requests > 0 && bannedUntil > 0 && minuteEndsAt > 0,
        windows: {
          minute: { limit: allowance.perMinute, used: minuteUsed, endsAt: minuteEndsAt },
          day: { limit: allowance.perDay, used: dayUsed, endsAt: dayEndsAt },
        },
      };
    });
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

  /** Adds what a replica admitted without Redis. @returns Redis's time */
  async merge({ accountId, sequence, from, to, minuteEndsAt, minute, dayEndsAt, day }: PendingUsage): Promise<number> {
    const keys = [this.accountKey(accountId), `${this.keyPrefix}{${accountId}}:merged:${this.replica}:${sequence}`];
    // Its source is sent along, so that it cannot fall behind a call that is sent after it.
    return (await this.explained(
      this.redis.eval(
        MERGE_USAGE.source,
        ...[keys.length, ...keys, this.fixedNow()],
        from,
        to,
        minuteEndsAt,
        minute,
        dayEndsAt,
        day,
      ),
    )) as number;
  }

  /** Finds out whether the node that has a tag takes writes. @returns its time */
  async probe(tag = 'probe'): Promise<number> {
    return (await this.run(PROBE, [`${this.keyPrefix}{${tag}}:probe`], [])) as number;
  }

  /** The node of a cluster that has what belongs to a tag; empty when there is one node, or it is not known yet. */
  nodeOf(tag: string): string {
    return this.redis instanceof Cluster ? (this.redis.slots[hashSlot(tag)]?.[0] ?? '') : '';
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
        return this.explained(this.redis.eval(source, ...args));
      }
      throw this.explain(error);
    }
  }

  private async explained<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** Why there is no connection, in place of an error that only says that there is none. */
  private explain(error: unknown): unknown {
    return error instanceof Error && NO_CONNECTION.test(error.message)
      ? (this.connectionError ?? new Error('the connection was closed'))
      : error;
  }
}

function connection(urls: readonly string[]): Redis | Cluster {
  const [first = ''] = urls;
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_LIMIT_MS,
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
    // A call to a node that is down fails soon; the breaker decides when to try again.
    maxRedirections: 4,
    retryDelayOnFailover: 50,
    retryDelayOnClusterDown: 50,
    redisOptions: {
      ...options,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
  });
}

function isSelectError(error: unknown): error is Error {
  return (
    error instanceof Error && (error as Error & { readonly command?: { name?: string } }).command?.name === 'select'
  );
}
