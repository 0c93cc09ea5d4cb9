import calculateSlot from 'cluster-key-slot';
import { Cluster, Redis } from 'ioredis';
import { BRAND } from '../../config/brand';
import { InvalidSettingsError, type Settings } from '../../config/settings';
import { RATE_LIMIT_SETTINGS, type RateLimitSettings } from '../settings/rate-limit-settings';
import { MINUTE_MS, WINDOWS } from '../../shared/domain/allowance';
import type { Principal } from '../../shared/domain/principal';
import { getErrorMessage } from '../../shared/domain/error-message';
import type { AccountWindows, RateLimitUsage, Window } from '../domain/rate-limiter';
import type { ThrottleWindow } from '../domain/throttle-storage';
import { mapWindows } from '../domain/windows';
import { readTlsOptions, createRedisClient, getRedisUser } from './redis-client';
import type { KnownUsage } from '../memory/account-usage';
import { REDIS_SETTINGS } from '../settings/redis-settings';
import { CONSUME, COUNT, PERMISSIONS, PROBE, type Script, UNDO, getWindowFields } from './scripts';

/** The maximum number of API keys per call. With 32, creating is 3 to 5% slower, because Redis and the replica wait for each other. */
export const MAX_BATCH_SIZE = 16;
/** The hash tag of a probe of any node. */
export const PROBE_TAG = 'probe';
/** The length of the result of CONSUME for each key. */
const RESULT_LENGTH = 3 + 2 * WINDOWS.length;
/** Client errors for a call that could not be sent, or whose reply could not be read. */
const CONNECTION_ERROR = /^(Connection is closed|Stream isn't writeable|Reached the max retries|Cluster isn't ready)/;
/** Redis's error, and that of this store, for the keys of a hash slot that no node serves. */
const UNSERVED_SLOT = 'CLUSTERDOWN Hash slot not served';
/** Redis errors for the keys of a hash slot that no node serves, or that is being moved to another node. */
const SLOT_ERROR = new RegExp(`^(MOVED|ASK|TRYAGAIN|${UNSERVED_SLOT})`);
/** Redis errors for a missing permission, in a call or in a script. */
const PERMISSION_ERROR = /^NOPERM|The user executing the script can't|ACL failure in script/;
/** The client's error after it has tried every sentinel; each failed attempt emits its own error first. */
const NO_SENTINEL = 'All sentinels are unreachable';
/** The errors of a sentinel that monitors no primary with the configured name. */
const UNKNOWN_PRIMARY = /got an invalid reply: null$|No such master with that name/;

/** The key and account whose requests are counted. */
export type RateLimitSubject = Pick<Principal, 'accountId' | 'keyId' | 'allowance' | 'unbanCount'>;

/** A number of requests with one key. With 0, the usage is only read. */
export interface KeyRequests {
  readonly subject: RateLimitSubject;
  readonly requests: number;
  /** If Redis has lost usage, it continues these windows, and admits only what the replica may still admit. */
  readonly known?: KnownUsage;
}

/** The response of Redis for requests with a key. Times are in ms since the epoch, by Redis's clock. */
export interface ConsumeResult {
  readonly now: number;
  /** How many requests, from the first, were admitted. */
  readonly admitted: number;
  /** How many of the following requests were rejected by an exhausted window. */
  readonly rejected: number;
  /** The end of the ban that rejects the remaining requests; 0 if there is none. */
  readonly bannedUntil: number;
  /** Whether one of these requests caused the ban. */
  readonly imposesBan: boolean;
  /** The windows after these requests; `used` and `endsAt` are 0 if an existing ban rejected them. */
  readonly windows: AccountWindows;
}

/** Returns the usage that Redis reported for a key. */
export function toRateLimitUsage({ windows, bannedUntil, now }: ConsumeResult): RateLimitUsage {
  return { windows, bannedUntil: bannedUntil === 0 ? undefined : bannedUntil, readAt: now };
}

export interface CountResult {
  readonly now: number;
  readonly isAdmitted: boolean;
  readonly window: Window;
}

/**
 * The rate limit usage that all replicas share in Redis or Redis Cluster. Each call is one atomic script and one round trip.
 * A single server gets each call at once; in a cluster, the calls of one event-loop tick are pipelined per node. Every Redis key expires
 * with its windows or bans. A call fails immediately when there is no connection.
 */
export class RedisUsageStore {
  /** The cause of the last failed connection attempt. */
  private connectionError: Error | undefined;
  private readonly banRules: string;
  /** The maximum number of API keys per call. In a cluster it is 1, because a script can only use keys of one hash slot. */
  maxBatchSize: number;

  /** @param getFixedNow replaces Redis's time in tests */
  constructor(
    private readonly redis: Redis | Cluster,
    private readonly keyPrefix: string,
    private readonly settings: RateLimitSettings,
    private readonly getFixedNow: () => number | '' = () => '',
  ) {
    this.maxBatchSize = this.redis instanceof Cluster ? 1 : MAX_BATCH_SIZE;
    const { banGraceSeconds, banWindowSeconds, banMemorySeconds, banDurationsSeconds } = settings;
    this.banRules = JSON.stringify({
      graceMs: banGraceSeconds * 1_000,
      windowMs: banWindowSeconds * 1_000,
      memoryMs: banMemorySeconds * 1_000,
      durationsMs: banDurationsSeconds.map((seconds) => seconds * 1_000),
    });
    this.redis.on('error', (error: Error & { readonly lastNodeError?: Error }) => {
      const known = this.connectionError;
      if (CONNECTION_ERROR.test(error.message)) {
        return;
      }
      // The preceding error of a sentinel is more specific.
      if (known === undefined || !(isSelectError(known) || error.message.startsWith(NO_SENTINEL))) {
        this.connectionError = error.lastNodeError ?? error;
      }
      if (isSelectError(error)) {
        // The client would continue with database 0, which another application may use.
        this.redis.disconnect(true);
      }
    });
    this.redis.on('node error', (error: Error) => {
      this.connectionError = error;
    });
    this.redis.on('sentinelError', (error: Error) => {
      this.connectionError = UNKNOWN_PRIMARY.test(error.message)
        ? new Error('the sentinels know no primary with the name in REDIS_URL')
        : error;
    });
    this.redis.on('ready', () => {
      this.connectionError = undefined;
    });
  }

  /** Creates the store that all replicas with these settings share. */
  static create(settings: Settings): RedisUsageStore {
    const { redisUrls, environment } = settings;
    const { keyPrefix = `${BRAND.name}:${environment}:` } = settings.get(REDIS_SETTINGS);
    const redis = createRedisClient(redisUrls, readTlsOptions(settings));
    return new RedisUsageStore(redis, keyPrefix, settings.get(RATE_LIMIT_SETTINGS));
  }

  /**
   * Connects, and keeps reconnecting until `close`.
   * @throws InvalidSettingsError when Redis rejects the database number; otherwise the error of the first attempt
   */
  async connect(): Promise<void> {
    // While no sentinel is available, the client retries without end.
    const failed = new Promise<never>((_, reject) => {
      this.redis.once('error', (error: Error) => {
        reject(this.connectionError ?? error);
      });
    });
    try {
      await this.withExplanation(Promise.race([this.redis.connect(), failed]));
    } catch (error) {
      throw isSelectError(error)
        ? new InvalidSettingsError(
            `Redis does not let the service use the database in REDIS_URL (${getErrorMessage(error)}).`,
          )
        : error;
    }
  }

  /** Replaces the connection to a single server, such as a former primary. In a cluster, the client finds the nodes itself. */
  reconnect(): void {
    if (this.redis instanceof Redis && this.redis.status === 'ready') {
      this.redis.disconnect(true);
    }
  }

  close(): void {
    this.redis.disconnect();
  }

  /**
   * Counts or rejects requests with at most `maxBatchSize` keys.
   * @param deadline by Redis's clock; later, Redis does nothing
   * @returns a result for each key; undefined after the deadline
   */
  consume(batch: readonly KeyRequests[], deadline?: number): Promise<ConsumeResult[] | undefined> {
    const keys: string[] = [];
    const values: number[] = [];
    for (const { subject, requests, known } of batch) {
      const { accountId, keyId, allowance, unbanCount } = subject;
      const prefix = this.getPrefix(accountId);
      keys.push(`${prefix}:windows`, `${prefix}:ban:${keyId}`);
      values.push(requests, allowance.perMinute, unbanCount);
      for (const { name, limit } of WINDOWS) {
        values.push(allowance[limit], known?.[name].endsAt ?? 0, known?.[name].admitted ?? 0);
      }
    }
    return this.sendBatch(batch, keys, [this.banRules, JSON.stringify(values)], deadline);
  }

  private async sendBatch(
    batch: readonly KeyRequests[],
    keys: string[],
    values: string[],
    deadline: number | undefined,
  ): Promise<ConsumeResult[] | undefined> {
    let reply: unknown;
    try {
      reply = await this.runScript(CONSUME, keys, [...values, deadline ?? '']);
    } catch (error) {
      if (batch.length === 1 || !getErrorMessage(error).startsWith('CROSSSLOT')) {
        throw error;
      }
      // The server is a cluster behind a single endpoint. Nothing was counted.
      this.maxBatchSize = 1;
      // Without a deadline, so that each key has a result.
      return (await Promise.all(batch.map((each) => this.consume([each])))).flatMap((each) => each ?? []);
    }
    const [now, ...results] = reply as [number, ...number[]];
    if (results.length === 0) {
      return undefined;
    }
    return batch.map(({ subject: { allowance }, requests }, index) => {
      let next = index * RESULT_LENGTH;
      const readNumber = () => results[next++] ?? NaN;
      const [admitted, rejected, bannedUntil] = [readNumber(), readNumber(), readNumber()];
      const windows = mapWindows(({ limit }) => {
        const [endsAt, used] = [readNumber(), readNumber()];
        return { limit: allowance[limit], used, endsAt };
      });
      // The script returns no windows if the key was banned before these requests.
      const imposesBan = requests > 0 && bannedUntil > 0 && windows[WINDOWS[0].name].endsAt > 0;
      return { now, admitted, rejected, bannedUntil, imposesBan, windows };
    });
  }

  /** @param deadline by Redis's clock; later, Redis does nothing, and the result is undefined */
  countAuthFailure(network: string, deadline?: number): Promise<CountResult | undefined> {
    const limit = this.settings.authFailuresPerMinute;
    const window = { limit, ttl: MINUTE_MS, blockDuration: MINUTE_MS };
    return this.count(`${this.getPrefix(network)}:client-ip`, window, deadline);
  }

  /** @param deadline by Redis's clock; later, Redis does nothing, and the result is undefined */
  throttle(key: string, window: ThrottleWindow, deadline?: number): Promise<CountResult | undefined> {
    return this.count(this.getThrottleKey(key), window, deadline);
  }

  /** Takes back a request that `throttle` admitted, unless its window is over. @returns the time of Redis */
  undoThrottle(key: string, endsAt: number): Promise<number> {
    return this.undo(this.getThrottleKey(key), [1, 'endsAt', 'used', endsAt]);
  }

  /** Takes back requests of an account that `consume` admitted in these windows, unless they are over. @returns the time of Redis */
  undoConsume(accountId: bigint, requests: number, windows: AccountWindows): Promise<number> {
    const values = WINDOWS.flatMap(({ name }) => [...getWindowFields(name), windows[name].endsAt]);
    return this.undo(`${this.getPrefix(accountId)}:windows`, [requests, ...values]);
  }

  /** Checks that the node of a hash tag accepts writes and grants all permissions that the service needs. @returns its time */
  async probe(tag = PROBE_TAG): Promise<number> {
    return (await this.runScript(PROBE, [`${this.getPrefix(tag)}:check`], [])) as number;
  }

  /** Returns the cluster node of a hash tag; empty for a single server, or while the node is unknown. */
  findNode(tag: string): string {
    return this.redis instanceof Cluster ? (this.redis.slots[calculateSlot(tag)]?.[0] ?? '') : '';
  }

  /** Whether an error concerns only the accounts of one hash slot, not the node. */
  isAboutOneSlot(error: unknown): boolean {
    return this.redis instanceof Cluster && SLOT_ERROR.test(getErrorMessage(error));
  }

  /** The braces mark a Redis Cluster hash tag, which keeps all keys with this prefix on one node. */
  private getPrefix(tag: bigint | string): string {
    return `${this.keyPrefix}{${tag}}`;
  }

  private async count(
    key: string,
    { limit, ttl, blockDuration }: Omit<ThrottleWindow, 'name'>,
    deadline: number | undefined,
  ): Promise<CountResult | undefined> {
    const values = [limit, Math.ceil(ttl), Math.ceil(blockDuration), deadline ?? ''];
    const [now, ...result] = (await this.runScript(COUNT, [key], values)) as [number, ...number[]];
    const [admitted, endsAt = 0, used = 0] = result;
    return admitted === undefined ? undefined : { now, isAdmitted: admitted === 1, window: { limit, used, endsAt } };
  }

  private async undo(key: string, values: (number | string)[]): Promise<number> {
    return (await this.runScript(UNDO, [key], values)) as number;
  }

  private getThrottleKey(key: string): string {
    return `${this.getPrefix(key)}:throttle`;
  }

  private runScript({ sha1, source }: Script, keys: string[], values: (number | string)[]): Promise<unknown> {
    const { redis } = this;
    if (redis instanceof Cluster && redis.slots.length > 0 && redis.slots[calculateSlot(`${keys[0]}`)] === undefined) {
      // The client would fail with a TypeError.
      return Promise.reject(new Error(UNSERVED_SLOT));
    }
    const args = [keys.length, ...keys, this.getFixedNow(), ...values] as const;
    return this.withExplanation(
      redis.evalsha(sha1, ...args).catch((error: unknown) => {
        if (getErrorMessage(error).startsWith('NOSCRIPT')) {
          return redis.eval(source, ...args);
        }
        throw error;
      }),
    );
  }

  private async withExplanation<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** Replaces a generic connection error with its cause, and adds the required grants to a permission error. */
  private explain(error: unknown): unknown {
    const cause =
      error instanceof Error && CONNECTION_ERROR.test(error.message)
        ? (this.connectionError ?? new Error('the connection was closed'))
        : error;
    if (!(cause instanceof Error && PERMISSION_ERROR.test(cause.message))) {
      return cause;
    }
    const others = this.redis instanceof Cluster ? ' +cluster|slots +asking' : isSelectError(cause) ? ' +select' : '';
    const permissions = PERMISSIONS + others;
    return new Error(
      `${cause.message}; grant the permissions with: ACL SETUSER ${getRedisUser(this.redis)} ~${this.keyPrefix}* ${permissions}`,
    );
  }
}

function isSelectError(error: unknown): error is Error {
  return (
    error instanceof Error && (error as Error & { readonly command?: { name?: string } }).command?.name === 'select'
  );
}
