import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InvalidSettingsError } from '../../config/settings';
import type { RateLimitSettings } from '../settings/rate-limit-settings';
import type { Clock } from '../../shared/domain/clock';
import { WINDOWS } from '../../shared/domain/allowance';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import type { Principal } from '../../shared/domain/principal';
import { type AccountWindows, type RateLimitDecision, RateLimiter, type RateLimitUsage } from '../domain/rate-limiter';
import {
  createAdmittedDecision,
  createAuthFailureDecision,
  createBannedDecision,
  createRejectedDecision,
  mapWindows,
} from '../domain/windows';
import { MemoryRateLimiter } from '../memory/memory-rate-limiter';
import { getClientNetwork } from '../memory/client-network';
import { CircuitBreaker } from './circuit-breaker';
import {
  type ConsumeResult,
  type KeyRequests,
  MAX_BATCH_SIZE,
  PROBE_TAG,
  type RedisUsageStore,
  toRateLimitUsage,
} from './redis-usage-store';
import { RedisClock } from './redis-clock';
import { withTimeout } from './with-timeout';
import { type LogEvent, logEvent } from '../../shared/log-events';

/** A request is decided locally when Redis takes longer than this. */
const REPLY_TIMEOUT_MS = 50;
/** How long startup waits for the first connection. */
const CONNECT_TIMEOUT_MS = 1_000;
/** How long a ban is cached: an unban must take effect within a second. */
const CACHE_TTL_MS = 1_000;
const CACHE_CAPACITY = 100_000;

type SharedStore = Pick<RedisUsageStore, keyof RedisUsageStore>;

/** The requests with a key that are counted in one event-loop tick. */
class RequestGroup {
  requests = 0;
  admittedLocally = 0;
  resolve: (result: ConsumeResult | undefined) => void = () => undefined;
  /** Undefined if Redis did not decide these requests in time. */
  readonly result = new Promise<ConsumeResult | undefined>((resolve) => {
    this.resolve = resolve;
  });
  /** Returns the decision about one of the requests, by the result. */
  decide: ((index: number) => RateLimitDecision) | undefined;

  constructor(readonly principal: Principal) {}
}

/** A single server, or a node of a cluster. */
interface Node {
  readonly breaker: CircuitBreaker;
  /** The hash tag of the last call: others may have moved to another node. */
  tag: string;
}

interface CachedBan {
  readonly decision: RateLimitDecision;
  readonly unbanCount: number;
  /** By the monotonic clock. */
  readonly expiresAt: number;
}

/**
 * Enforces rate limits across all replicas that share a Redis. If Redis does not decide a request in time, the replica decides it in memory
 * from the last known usage. No replica ever admits more than the allowance in a window. What a replica admits on its own is not reported
 * to Redis, so a fault can give an account additional requests, but never takes any. Each cluster node has its own breaker, so a failed
 * node does not affect accounts on other nodes. Bans are cached for a second, and exhausted windows of client networks until they end, so
 * that a flood of rejected requests puts almost no load on Redis.
 */
export class RedisRateLimiter extends RateLimiter implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisRateLimiter.name);
  private readonly redisClock: RedisClock;
  private readonly memory: MemoryRateLimiter;
  /** By key ID. */
  private readonly bans = new ExpiringMap<bigint, CachedBan>(CACHE_CAPACITY);
  private readonly nodes = new Map<string, Node>();
  private queue = new Map<Principal, RequestGroup>();

  constructor(
    private readonly store: SharedStore,
    clock: Clock,
    settings: RateLimitSettings,
    private readonly replyTimeoutMs: number = REPLY_TIMEOUT_MS,
  ) {
    super();
    this.redisClock = new RedisClock(clock);
    this.memory = new MemoryRateLimiter(this.redisClock, settings);
    this.memory.monitor.onBan((principal, bannedUntil) => {
      this.monitor.recordBan(principal, bannedUntil);
    });
  }

  /** @throws InvalidSettingsError when Redis rejects the configuration of this replica */
  async onModuleInit(): Promise<void> {
    try {
      await withTimeout(CONNECT_TIMEOUT_MS, this.store.connect());
      this.redisClock.synchronize(await withTimeout(CONNECT_TIMEOUT_MS, this.store.probe()));
    } catch (error) {
      if (error instanceof InvalidSettingsError) {
        throw error;
      }
      this.getBreaker(PROBE_TAG).open(error);
    }
  }

  onApplicationShutdown(): void {
    this.nodes.forEach(({ breaker }) => {
      breaker.stop();
    });
    this.store.close();
  }

  consume(principal: Principal): RateLimitDecision | Promise<RateLimitDecision> {
    return this.findCachedBan(principal) ?? this.consumeShared(principal);
  }

  async readUsage(principal: Principal): Promise<RateLimitUsage> {
    checkSubject(principal);
    const request = this.createRequests(principal, 0);
    const results = await this.callStore(`${principal.accountId}`, (store) => store.consume([request]));
    const result = results?.[0];
    if (result === undefined) {
      return this.memory.readUsage(principal);
    }
    this.redisClock.synchronize(result.now);
    const { windows } = this.memory.sync(principal.accountId, 0, result.windows, result.now);
    return { ...toRateLimitUsage(result), windows };
  }

  async countAuthFailure(ip: string): Promise<RateLimitDecision> {
    const network = getClientNetwork(ip);
    const isExhausted = this.memory.readAuthFailures(ip).remaining === 0;
    const result = isExhausted
      ? undefined
      : await this.callStore(network, (store, deadline) => store.countAuthFailure(network, deadline));
    if (result === undefined) {
      return this.memory.countAuthFailure(ip);
    }
    const { now, window, isAdmitted } = result;
    this.redisClock.synchronize(now);
    this.memory.storeAuthFailures(network, window);
    // After a loss of data, Redis knows less than this replica.
    return isAdmitted ? this.memory.readAuthFailures(ip) : createAuthFailureDecision(window, true, now);
  }

  readAuthFailures(ip: string): RateLimitDecision {
    return this.memory.readAuthFailures(ip);
  }

  /** The clock of Redis. */
  get clock(): Clock {
    return this.redisClock;
  }

  /**
   * Makes a call to the node of a hash tag.
   * @param call does nothing in Redis after the deadline, by its clock, because this replica then decides itself
   * @returns undefined if Redis has no result in time
   */
  callStore<T>(
    tag: string,
    call: (store: SharedStore, deadline?: number) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    return this.getBreaker(tag).execute(async () => {
      const startedAt = this.redisClock.monotonic();
      const result = await call(this.store, Math.ceil(this.redisClock.now() + this.replyTimeoutMs));
      const isLate = this.redisClock.monotonic() - startedAt > this.replyTimeoutMs;
      // Without a result in time, the clock of Redis has changed. The next reply synchronizes this replica with it.
      return result === undefined && !isLate ? call(this.store) : result;
    });
  }

  private async consumeShared(principal: Principal): Promise<RateLimitDecision> {
    checkSubject(principal);
    let group = this.queue.get(principal);
    if (group === undefined) {
      group = new RequestGroup(principal);
      if (this.queue.size === 0) {
        setImmediate(this.consumeQueue);
      }
      this.queue.set(principal, group);
    }
    const index = group.requests++;
    const result = await group.result;
    if (result === undefined) {
      const decision = this.memory.consume(principal);
      group.admittedLocally += decision.rejection === undefined ? 1 : 0;
      return decision;
    }
    group.decide ??= this.adopt(principal, result);
    return group.decide(index);
  }

  /** Counts the requests with up to 16 keys, so that each tick sends Redis one packet. Further keys wait for the next tick. */
  private readonly consumeQueue = (): void => {
    const groups = [...this.queue.values()];
    this.queue = new Map(groups.splice(MAX_BATCH_SIZE).map((group) => [group.principal, group]));
    if (this.queue.size > 0) {
      setImmediate(this.consumeQueue);
    }
    const { maxBatchSize } = this.store;
    for (let start = 0; start < groups.length; start += maxBatchSize) {
      void this.consumeBatch(groups.slice(start, start + maxBatchSize));
    }
  };

  /** Makes one call to Redis. It never rejects, and whatever happens, every request is decided by itself. */
  private async consumeBatch(groups: readonly RequestGroup[]): Promise<void> {
    let results: readonly ConsumeResult[] | undefined;
    let call: Promise<readonly ConsumeResult[] | undefined> | undefined;
    try {
      // If a call can have several keys, there is only one node.
      const batch = groups.map(({ principal, requests }) => this.createRequests(principal, requests));
      results = await this.callStore(`${groups[0]?.principal.accountId}`, (store, deadline) => {
        return (call = store.consume(batch, deadline));
      });
    } catch (error) {
      const stack = error instanceof Error ? error.stack : undefined;
      logEvent(this.logger, 'rate_limit_failed', 'Requests are counted locally because of an error.', { stack });
    }
    groups.forEach((group, index) => {
      group.resolve(results?.[index]);
    });
    if (results === undefined) {
      const late = await call?.catch(() => undefined);
      groups.forEach((group, index) => {
        this.takeBack(group.principal, late?.[index], group.admittedLocally);
      });
    }
  }

  /** Takes back in Redis what it has admitted, but this replica has not. */
  private takeBack({ accountId }: Principal, result: ConsumeResult | undefined, admitted: number): void {
    if (result !== undefined && result.admitted > admitted) {
      this.store.undoConsume(accountId, result.admitted - admitted, result.windows).catch(() => undefined);
    }
  }

  private createRequests(principal: Principal, requests: number): KeyRequests {
    return { subject: principal, requests, known: this.memory.describe(principal.accountId) };
  }

  /** Adopts a result of Redis. @returns the decision about each of the requests, by its index */
  private adopt(principal: Principal, result: ConsumeResult): (index: number) => RateLimitDecision {
    const { now, admitted, rejected, bannedUntil } = result;
    this.redisClock.synchronize(now);
    const createBanned = () => createBannedDecision(principal.allowance, bannedUntil, now);
    if (bannedUntil > 0) {
      this.cacheBan(principal, createBanned());
      this.memory.storeBan(principal, bannedUntil - now);
    }
    if (result.imposesBan) {
      this.monitor.recordBan(principal, bannedUntil);
    }
    if (admitted + rejected === 0) {
      return createBanned;
    }
    const { passed, windows } = this.memory.sync(principal.accountId, admitted, result.windows, now);
    this.takeBack(principal, result, passed);
    return (index) => {
      if (index < passed) {
        return createAdmittedDecision(subtractRequests(windows, passed - index - 1), now);
      }
      return index < admitted + rejected ? createRejectedDecision(windows, now) : createBanned();
    };
  }

  private findCachedBan({ keyId, unbanCount }: Principal): RateLimitDecision | undefined {
    const cached = this.bans.get(keyId, this.redisClock.monotonic());
    if (cached === undefined) {
      return undefined;
    }
    if (cached.unbanCount < unbanCount) {
      this.bans.delete(keyId);
      return undefined;
    }
    return { ...cached.decision, decidedAt: this.redisClock.now() };
  }

  private cacheBan({ keyId, unbanCount }: Principal, decision: RateLimitDecision): void {
    const monotonicNow = this.redisClock.monotonic();
    const expiresAt = monotonicNow + Math.min(decision.resetAt - decision.decidedAt, CACHE_TTL_MS);
    this.bans.set(keyId, { decision, unbanCount, expiresAt }, monotonicNow);
  }

  /** Returns the breaker of the node with this hash tag. */
  private getBreaker(tag: string): CircuitBreaker {
    const name = this.store.findNode(tag);
    let node = this.nodes.get(name);
    if (node === undefined) {
      node = { tag, breaker: this.createBreaker(name, () => this.nodes.get(name)?.tag) };
      this.nodes.set(name, node);
    }
    node.tag = tag;
    return node.breaker;
  }

  /** @param getTag returns a hash tag of the node */
  private createBreaker(node: string, getTag: () => string | undefined): CircuitBreaker {
    return new CircuitBreaker({
      replyTimeoutMs: this.replyTimeoutMs,
      concernsFew: (error) => this.store.isAboutOneSlot(error),
      probe: async () => {
        const startedAt = this.redisClock.monotonic();
        const now = await this.store.probe(getTag());
        // The clock would take the time in a late reply for a clock that was set back, and windows would open again.
        if (this.redisClock.monotonic() - startedAt <= this.replyTimeoutMs) {
          this.redisClock.synchronize(now);
        }
      },
      reconnect: () => {
        this.store.reconnect();
      },
      onReply: (ms) => {
        this.monitor.recordReply(ms);
      },
      onFailure: (reason) => {
        const message = `Requests are counted locally because of a further error of Redis (${reason}).`;
        this.report(node, 'redis_failed', message, { reason });
      },
      onOpen: (reason) => {
        const message = `Redis is unavailable (${reason}): this replica counts requests locally until Redis recovers.`;
        this.report(node, 'breaker_opened', message, { reason });
      },
      onClose: () => {
        const message = 'Redis is available again: rate limits are shared with the other replicas.';
        this.report(node, 'breaker_closed', message);
      },
    });
  }

  /** Logs what has happened to the breaker of a node. */
  private report(node: string, event: LogEvent, message: string, details: object = {}): void {
    const isDegraded = [...this.nodes.values()].some(({ breaker }) => breaker.isOpen);
    if (isDegraded && !this.monitor.isDegraded) {
      this.monitor.breakerOpenings++;
    }
    this.monitor.isDegraded = isDegraded;
    logEvent(this.logger, event, message, { ...details, ...(node !== '' && { node }) });
  }
}

/**
 * Checks the numbers that a call to Redis contains.
 * @throws Error before the request is counted in the same call as requests of others
 */
function checkSubject({ accountId, allowance, unbanCount }: Principal): void {
  if (![unbanCount, ...WINDOWS.map(({ limit }) => allowance[limit])].every(Number.isSafeInteger)) {
    throw new Error(`Account ${accountId} has no valid rate limits.`);
  }
}

/** Returns the windows as they were before the last `requests` requests. */
function subtractRequests(windows: AccountWindows, requests: number): AccountWindows {
  return mapWindows(({ name }) => ({ ...windows[name], used: windows[name].used - requests }));
}
