import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InvalidSettingsError } from '../../config/settings';
import type { RateLimitSettings } from '../rate-limit-settings';
import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import { getErrorMessage } from '../../shared/domain/error-message';
import type { Principal } from '../../shared/domain/principal';
import { type RateLimitDecision, RateLimiter, type RateLimitUsage } from '../domain/rate-limiter';
import {
  type AccountWindows,
  createAdmittedDecision,
  createAuthFailureDecision,
  createBannedDecision,
  createRejectedDecision,
  type Window,
} from '../domain/windows';
import type { PendingUsage } from '../memory/account-usage';
import { MemoryRateLimiter } from '../memory/memory-rate-limiter';
import { getClientNetwork } from '../client-network';
import { CircuitBreaker } from './circuit-breaker';
import {
  type CountRequestsResult,
  MAX_BATCH_SIZE,
  PROBE_TAG,
  type RedisUsageStore,
  toRateLimitUsage,
} from './redis-usage-store';
import { RedisClock } from './redis-clock';
import { withTimeout } from './with-timeout';

/** A request is decided locally when Redis takes longer than this. */
const REPLY_TIMEOUT_MS = 50;
/** How long startup waits for the first connection. */
const CONNECT_TIMEOUT_MS = 1_000;
/** How long a ban or the exhausted window of a client network is cached: changes must take effect within a second. */
const CACHE_TTL_MS = 1_000;
const CACHE_CAPACITY = 100_000;
/** How many accounts are reported to Redis at a time. */
const REPORT_BATCH_SIZE = 500;

type SharedStore = Pick<RedisUsageStore, keyof RedisUsageStore>;

type Resolve = (decision: RateLimitDecision) => void;

/** The requests with a key that are counted in one event-loop tick. */
interface RequestGroup {
  readonly principal: Principal;
  readonly resolvers: readonly Resolve[];
}

interface CachedBan {
  readonly unbanCount: number;
  readonly bannedUntil: number;
  /** By the monotonic clock. */
  readonly expiresAt: number;
}

/**
 * Enforces rate limits across all replicas that share a Redis. If Redis does not decide a request in time, the replica decides it in memory
 * from the last known usage, and reports the admitted requests to Redis later. No replica ever admits more than the allowance in a window,
 * and the limits are exact across replicas once Redis responds again. Each cluster node has its own breaker, so a failed node does not
 * affect accounts on other nodes. Bans and exhausted windows of client networks are cached for a second, so that a flood of rejected
 * requests puts almost no load on Redis.
 */
export class RedisRateLimiter extends RateLimiter implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisRateLimiter.name);
  private readonly redisClock: RedisClock;
  private readonly memory: MemoryRateLimiter;
  private readonly cachedBans = new ExpiringMap<bigint, CachedBan>(CACHE_CAPACITY);
  private readonly exhaustedWindows = new ExpiringMap<string, { window: Window; expiresAt: number }>(CACHE_CAPACITY);
  private readonly breakers = new Map<string, CircuitBreaker>();
  private queued = new Map<Principal, Resolve[]>();

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
    this.breakers.forEach((breaker) => {
      breaker.stop();
    });
    this.store.close();
  }

  countRequest(principal: Principal): RateLimitDecision | Promise<RateLimitDecision> {
    const ban = this.cachedBans.get(principal.keyId, this.redisClock.monotonic());
    if (ban !== undefined && ban.unbanCount < principal.unbanCount) {
      this.cachedBans.delete(principal.keyId);
    } else if (ban !== undefined) {
      return createBannedDecision(principal, ban.bannedUntil, this.redisClock.now());
    }
    return new Promise((resolve) => {
      const resolvers = this.queued.get(principal);
      if (resolvers !== undefined) {
        resolvers.push(resolve);
        return;
      }
      if (this.queued.size === 0) {
        this.scheduleCount();
      }
      this.queued.set(principal, [resolve]);
    });
  }

  async readUsage(principal: Principal): Promise<RateLimitUsage> {
    const { reply } = await this.getBreaker(`${principal.accountId}`).execute(() =>
      this.fetchCounts([{ principal, resolvers: [] }]),
    );
    const result = reply?.[0];
    if (result === undefined) {
      return this.memory.readUsage(principal);
    }
    this.redisClock.synchronize(result.now);
    return toRateLimitUsage(result);
  }

  async countAuthFailure(ip: string): Promise<RateLimitDecision> {
    const network = getClientNetwork(ip);
    const exhausted = this.exhaustedWindows.get(network, this.redisClock.monotonic());
    if (exhausted !== undefined) {
      return createAuthFailureDecision(exhausted.window, true, this.redisClock.now());
    }
    const { reply: count } = await this.getBreaker(network).execute(() => this.store.countAuthFailure(network));
    if (count === undefined) {
      return this.memory.countAuthFailure(ip);
    }
    this.redisClock.synchronize(count.now);
    const { window, isAdmitted } = count;
    this.memory.storeAuthFailures(ip, window);
    if (!isAdmitted) {
      const monotonicNow = this.redisClock.monotonic();
      const expiresAt = monotonicNow + Math.min(window.endsAt - count.now, CACHE_TTL_MS);
      this.exhaustedWindows.set(network, { window, expiresAt }, monotonicNow);
    }
    return createAuthFailureDecision(window, !isAdmitted, count.now);
  }

  /**
   * Does not call Redis: an approximate value is enough to delay requests, and to reject them while the queue of delayed requests
   * is full.
   */
  readAuthFailures(ip: string): RateLimitDecision {
    const exhausted = this.exhaustedWindows.get(getClientNetwork(ip), this.redisClock.monotonic());
    return exhausted === undefined
      ? this.memory.readAuthFailures(ip)
      : createAuthFailureDecision(exhausted.window, false, this.redisClock.now());
  }

  private scheduleCount(): void {
    setImmediate(() => {
      this.countQueued();
    });
  }

  /** Counts the requests with up to 16 keys, so that each tick sends Redis one packet. Further keys wait for the next tick. */
  private countQueued(): void {
    const { queued } = this;
    this.queued = new Map();
    const groupsByBreaker = new Map<CircuitBreaker, RequestGroup[]>();
    let keys = 0;
    queued.forEach((resolvers, principal) => {
      keys++;
      if (keys > MAX_BATCH_SIZE) {
        this.queued.set(principal, resolvers);
        return;
      }
      const breaker = this.getBreaker(`${principal.accountId}`);
      const groups = groupsByBreaker.get(breaker) ?? [];
      groups.push({ principal, resolvers });
      groupsByBreaker.set(breaker, groups);
    });
    if (this.queued.size > 0) {
      this.scheduleCount();
    }
    const { maxBatchSize } = this.store;
    groupsByBreaker.forEach((groups, breaker) => {
      for (let start = 0; start < groups.length; start += maxBatchSize) {
        void this.countBatch(breaker, groups.slice(start, start + maxBatchSize));
      }
    });
  }

  /** Makes one call to Redis for requests that are counted in one event-loop tick. */
  private async countBatch(breaker: CircuitBreaker, groups: readonly RequestGroup[]): Promise<void> {
    const outcome = await breaker.execute(() => this.fetchCounts(groups));
    const { reply } = outcome;
    if (reply === undefined) {
      const getLateCount = async (index: number) => (await outcome.lateReply)?.[index];
      await Promise.all(groups.map((group, index) => this.countInMemory(group, getLateCount(index))));
      return;
    }
    reply.forEach((count, index) => {
      const group = groups[index];
      if (group !== undefined) {
        this.decideGroup(group, count);
      }
    });
  }

  private decideGroup({ principal, resolvers }: RequestGroup, count: CountRequestsResult): void {
    this.redisClock.synchronize(count.now);
    this.cacheBan(principal, count);
    const { now, admissions, rejections, bannedUntil, windows } = count;
    const confirmed = admissions + rejections > 0 ? this.memory.syncWindows(principal.accountId, count) : 0;
    resolvers.forEach((resolve, index) => {
      if (index < confirmed) {
        resolve(createAdmittedDecision(subtractRequests(windows, admissions - index - 1), now));
      } else if (index < admissions) {
        resolve(createRejectedDecision(this.memory.getWindows(principal), now));
      } else {
        resolve(
          index < admissions + rejections
            ? createRejectedDecision(windows, now)
            : createBannedDecision(principal, bannedUntil, now),
        );
      }
    });
  }

  /** Reports the pending usage of the accounts to Redis, then counts the requests. */
  private async fetchCounts(groups: readonly RequestGroup[]): Promise<CountRequestsResult[]> {
    const pending = groups.flatMap(({ principal }) => this.memory.getPendingUsage(principal.accountId) ?? []);
    // Both use one connection and the reports are sent first, so that the counts include them.
    const reports = pending.map((each) => this.store.mergeUsage(each));
    const [counts] = await Promise.all([
      this.store.countRequests(
        groups.map(({ principal, resolvers }) => ({ subject: principal, requests: resolvers.length })),
      ),
      ...reports,
    ]);
    pending.forEach(({ acknowledge }) => {
      acknowledge();
    });
    return counts;
  }

  private async countInMemory(
    { principal, resolvers }: RequestGroup,
    lateCount: Promise<CountRequestsResult | undefined>,
  ): Promise<void> {
    const decisions = resolvers.map(() => this.memory.countRequest(principal));
    const admissions = decisions.filter(({ rejection }) => rejection === undefined).length;
    const settle = this.memory.deferReport(principal.accountId, admissions);
    resolvers.forEach((resolve, index) => {
      const decision = decisions[index];
      if (decision !== undefined) {
        resolve(decision);
      }
    });
    const count = await lateCount;
    settle(count);
    if (count !== undefined) {
      this.cacheBan(principal, count);
    }
    await this.report(this.memory.getPendingUsage(principal.accountId));
  }

  private cacheBan(principal: Principal, { now, bannedUntil, imposesBan }: CountRequestsResult): void {
    if (bannedUntil === 0) {
      return;
    }
    const monotonicNow = this.redisClock.monotonic();
    const expiresAt = monotonicNow + Math.min(bannedUntil - now, CACHE_TTL_MS);
    this.cachedBans.set(principal.keyId, { unbanCount: principal.unbanCount, bannedUntil, expiresAt }, monotonicNow);
    this.memory.storeBan(principal, bannedUntil - now);
    if (imposesBan) {
      this.monitor.recordBan(principal, bannedUntil);
    }
  }

  /** Returns the breaker of the node with this hash tag. */
  private getBreaker(tag: string): CircuitBreaker {
    const node = this.store.findNode(tag);
    let breaker = this.breakers.get(node);
    if (breaker === undefined) {
      breaker = this.createBreaker(node, tag);
      this.breakers.set(node, breaker);
    }
    return breaker;
  }

  private createBreaker(node: string, tag: string): CircuitBreaker {
    const details = node === '' ? {} : { node };
    return new CircuitBreaker({
      replyTimeoutMs: this.replyTimeoutMs,
      probe: async () => {
        const startedAt = this.redisClock.monotonic();
        const now = await this.store.probe(tag);
        // The clock would take the time in a late reply for a clock that was set back, and windows would open again.
        if (this.redisClock.monotonic() - startedAt <= this.replyTimeoutMs) {
          this.redisClock.synchronize(now);
        }
      },
      reconnect: () => {
        this.store.reconnect(node);
      },
      onReply: (ms) => {
        this.monitor.recordReply(ms);
      },
      onOpen: (cause) => {
        this.updateDegraded();
        const reason = getErrorMessage(cause);
        this.logger.warn(
          { event: 'breaker_opened', reason, ...details },
          `Redis is unavailable (${reason}): this replica counts requests locally until Redis recovers.`,
        );
      },
      onClose: () => {
        this.updateDegraded();
        this.logger.warn(
          { event: 'breaker_closed', ...details },
          'Redis is available again: rate limits are shared with the other replicas.',
        );
        void this.reportPending();
      },
    });
  }

  private updateDegraded(): void {
    const isDegraded = [...this.breakers.values()].some(({ isOpen }) => isOpen);
    if (isDegraded && !this.monitor.isDegraded) {
      this.monitor.breakerOpenings++;
    }
    this.monitor.isDegraded = isDegraded;
  }

  /** Reports all requests admitted locally to Redis, including those of accounts that send no more requests. */
  private async reportPending(): Promise<void> {
    const pendingUsage = [...this.memory.getAllPendingUsage()];
    for (let start = 0; start < pendingUsage.length; start += REPORT_BATCH_SIZE) {
      await Promise.all(pendingUsage.slice(start, start + REPORT_BATCH_SIZE).map((pending) => this.report(pending)));
    }
  }

  private async report(pending: PendingUsage | undefined): Promise<void> {
    if (pending === undefined) {
      return;
    }
    const outcome = await this.getBreaker(`${pending.accountId}`).execute(() => this.store.mergeUsage(pending));
    if ((outcome.reply ?? (await outcome.lateReply)) !== undefined) {
      pending.acknowledge();
    }
  }
}

/** Returns the windows as they were before the last `requests` requests. */
function subtractRequests({ minute, day }: AccountWindows, requests: number): AccountWindows {
  return { minute: { ...minute, used: minute.used - requests }, day: { ...day, used: day.used - requests } };
}
