import { randomUUID } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { InvalidSettingsError, type Settings } from '../../config/settings';
import { RATE_LIMIT_SETTINGS, type RateLimitSettings } from '../rate-limit-settings';
import type { Principal } from '../../shared/domain/principal';
import { errorMessage } from '../../shared/domain/error-message';
import type { AccountWindows, Window } from '../domain/windows';
import type { PendingUsage } from '../memory/account-usage';
import { hashSlot } from './hash-slot';
import { readTlsOptions, createRedisClient, getRedisUser } from './redis-client';
import { REDIS_SETTINGS } from './redis-settings';
import { COUNT_AUTH_FAILURE, COUNT_REQUESTS, PERMISSIONS, PROBE, MERGE_USAGE, type Script } from './scripts';

/** Less than a millisecond of Redis's time. */
const MAX_TOGETHER = 50;
/** How many numbers COUNT_REQUESTS returns for each key. */
const COUNT_LENGTH = 7;
/** How the client says that a call could not be sent, or its reply not be read. */
const NO_CONNECTION =
  /^(Connection is closed|Stream isn't writeable|Reached the max retries|Cluster isn't ready|MOVED )/;
/** How Redis says that the user lacks a permission, to a call or to a script. */
const NO_PERMISSION = /^NOPERM|The user executing the script can't|ACL failure in script/;
/** How the client says that no sentinel named the primary, after an error of each; and how one says that it knows none of that name. */
const NO_SENTINEL = 'All sentinels are unreachable';
const UNKNOWN_PRIMARY = /got an invalid reply: null$|No such master with that name/;

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
  /** How many of the next ones it rejected. */
  readonly rejections: number;
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
export class RedisUsageStore {
  /** Why the last attempt to connect failed. */
  private connectionError: Error | undefined;
  private readonly replica = randomUUID();
  private readonly banRules: readonly number[];
  /** How many keys one call may be about. In a cluster one: a script takes keys of one hash slot only. */
  maxTogether: number;

  /** @param fixedNow the time instead of Redis's, for tests */
  constructor(
    private readonly redis: Redis | Cluster,
    private readonly keyPrefix: string,
    private readonly settings: RateLimitSettings,
    private readonly fixedNow: () => number | '' = () => '',
  ) {
    this.maxTogether = this.redis instanceof Cluster ? 1 : MAX_TOGETHER;
    const { banWindowSeconds, banMemorySeconds, banDurationsSeconds } = settings;
    const durations = banDurationsSeconds.map((seconds) => seconds * 1_000);
    this.banRules = [banWindowSeconds * 1_000, banMemorySeconds * 1_000, durations.length, ...durations];
    this.redis.on('error', (error: Error & { readonly lastNodeError?: Error }) => {
      const known = this.connectionError;
      // A sentinel has told why, just before.
      if (known === undefined || !(isSelectError(known) || error.message.startsWith(NO_SENTINEL))) {
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
    this.redis.on('sentinelError', (error: Error) => {
      this.connectionError = UNKNOWN_PRIMARY.test(error.message)
        ? new Error('the sentinels know no primary of the name in REDIS_URL')
        : error;
    });
    this.redis.on('ready', () => {
      this.connectionError = undefined;
    });
  }

  /** Those of the replicas with these settings. */
  static create(settings: Settings): RedisUsageStore {
    const { redisUrls, environment } = settings;
    const { keyPrefix = `petstore:${environment}:` } = settings.of(REDIS_SETTINGS);
    const redis = createRedisClient(redisUrls, readTlsOptions(settings));
    return new RedisUsageStore(redis, keyPrefix, settings.of(RATE_LIMIT_SETTINGS));
  }

  /**
   * Begins to connect, and continues trying until `close`.
   * @throws InvalidSettingsError when Redis rejects the database number; the reason when the first attempt fails for another
   */
  async connect(): Promise<void> {
    // With sentinels that cannot be used, the client tries on and on.
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
      const [admissions, rejections, bannedUntil, minuteEndsAt, minuteUsed, dayEndsAt, dayUsed] = counts.slice(
        index * COUNT_LENGTH,
        (index + 1) * COUNT_LENGTH,
      ) as [number, number, number, number, number, number, number];
      return {
        now,
        admissions,
        rejections,
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
    return (await this.withExplanation(
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

  /** Finds out whether the node that has a tag takes writes, and lets the service do all that it needs. @returns its time */
  async probe(tag = 'probe'): Promise<number> {
    const key = `${this.keyPrefix}{${tag}}:probe`;
    return (await this.run(PROBE, [key, `${key}:hash`], [])) as number;
  }

  /** The node of a cluster that has what belongs to a tag; empty when there is one node, or it is not known yet. */
  findNode(tag: string): string {
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
        return this.withExplanation(this.redis.eval(source, ...args));
      }
      throw this.explain(error);
    }
  }

  private async withExplanation<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** Says why there is no connection, where an error only says that there is none, and what to grant where a permission is missing. */
  private explain(error: unknown): unknown {
    const cause =
      error instanceof Error && NO_CONNECTION.test(error.message)
        ? (this.connectionError ?? new Error('the connection was closed'))
        : error;
    if (!(cause instanceof Error && NO_PERMISSION.test(cause.message))) {
      return cause;
    }
    const permissions = this.redis instanceof Cluster ? `${PERMISSIONS} +cluster|slots` : PERMISSIONS;
    return new Error(
      `${cause.message}; grant what it needs: ACL SETUSER ${getRedisUser(this.redis)} ~${this.keyPrefix}* ${permissions}`,
    );
  }
}

function isSelectError(error: unknown): error is Error {
  return (
    error instanceof Error && (error as Error & { readonly command?: { name?: string } }).command?.name === 'select'
  );
}
