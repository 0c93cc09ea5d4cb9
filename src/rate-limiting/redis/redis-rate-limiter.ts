import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InvalidSettingsError } from '../../config/settings';
import type { RateLimitSettings } from '../rate-limit-settings';
import type { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import { errorMessage } from '../../shared/domain/error-message';
import type { Principal } from '../../shared/domain/principal';
import { type RateLimitDecision, RateLimiter, type RateLimitUsage } from '../domain/rate-limiter';
import { type AccountWindows, admitted, authFailure, banned, rejected, type Window } from '../domain/windows';
import type { PendingUsage } from '../memory/account-usage';
import { MemoryRateLimiter } from '../memory/memory-rate-limiter';
import { toNetwork } from '../network';
import { CircuitBreaker } from './circuit-breaker';
import type { RedisUsageStore, RequestCount } from './redis-usage-store';
import { RedisTime } from './redis-time';
import { withTimeout } from './with-timeout';

/** A request is decided locally when Redis takes longer than this. */
const REPLY_LIMIT_MS = 50;
/** How long startup waits for the first connection. */
const CONNECT_LIMIT_MS = 1_000;
/** How long a ban or an exhausted address window is cached: changes must take effect within a second. */
const CACHE_MS = 1_000;
const CACHE_CAPACITY = 100_000;
/** How many accounts are reported to Redis at a time. */
const REPORT_BATCH_SIZE = 500;

type SharedStore = Pick<RedisUsageStore, keyof RedisUsageStore>;

type Decide = (decision: RateLimitDecision) => void;

/** The requests with a key that arrived in one event-loop tick. */
interface Arrival {
  readonly principal: Principal;
  readonly together: readonly Decide[];
}

interface KnownBan {
  readonly unbanCount: number;
  readonly bannedUntil: number;
  /** By the monotonic clock. */
  readonly expiresAt: number;
}

/**
 * Enforces rate limits across all replicas that share a Redis. If Redis does not decide a request in time, the replica
 * decides it in memory from the usage it last knew, and reports the admitted requests to Redis later. No replica ever
 * admits more than the allowance in a window, and the limits are exact across replicas once Redis responds again. Each
 * cluster node has its own breaker, so a failed node does not affect accounts on other nodes. Bans and exhausted address
 * windows are cached for a second, so that a flood of rejected requests puts almost no load on Redis.
 */
export class RedisRateLimiter extends RateLimiter implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisRateLimiter.name);
  private readonly time: RedisTime;
  private readonly memory: MemoryRateLimiter;
  private readonly bans = new ExpiringMap<bigint, KnownBan>(CACHE_CAPACITY);
  private readonly addresses = new ExpiringMap<string, { window: Window; expiresAt: number }>(CACHE_CAPACITY);
  private readonly breakers = new Map<string, CircuitBreaker>();
  private arrived = new Map<Principal, Decide[]>();

  constructor(
    private readonly store: SharedStore,
    clock: Clock,
    settings: RateLimitSettings,
    private readonly replyLimitMs: number = REPLY_LIMIT_MS,
  ) {
    super();
    this.time = new RedisTime(clock);
    this.memory = new MemoryRateLimiter(this.time, settings);
    this.memory.events.onBan((principal, bannedUntil) => {
      this.events.recordBan(principal, bannedUntil);
    });
  }

  /** @throws InvalidSettingsError when Redis rejects the configuration of this replica */
  async onModuleInit(): Promise<void> {
    try {
      await withTimeout(CONNECT_LIMIT_MS, this.store.connect());
      this.time.follow(await withTimeout(CONNECT_LIMIT_MS, this.store.probe()));
    } catch (error) {
      if (error instanceof InvalidSettingsError) {
        throw error;
      }
      this.breakerFor('').open(error);
    }
  }

  onApplicationShutdown(): void {
    this.breakers.forEach((breaker) => {
      breaker.stop();
    });
    this.store.close();
  }

  countRequest(principal: Principal): RateLimitDecision | Promise<RateLimitDecision> {
    const ban = this.bans.get(principal.keyId, this.time.monotonic());
    if (ban !== undefined && ban.unbanCount < principal.unbanCount) {
      this.bans.delete(principal.keyId);
    } else if (ban !== undefined) {
      return banned(principal, ban.bannedUntil, this.time.now());
    }
    return new Promise((decide) => {
      const together = this.arrived.get(principal);
      if (together !== undefined) {
        together.push(decide);
        return;
      }
      if (this.arrived.size === 0) {
        setImmediate(() => {
          this.countArrived();
        });
      }
      this.arrived.set(principal, [decide]);
    });
  }

  async readUsage(principal: Principal): Promise<RateLimitUsage> {
    const { reply } = await this.breakerFor(`${principal.accountId}`).execute(() =>
      this.requestCounts([{ principal, together: [] }]),
    );
    const usage = reply?.[0];
    if (usage === undefined) {
      return this.memory.readUsage(principal);
    }
    this.time.follow(usage.now);
    return {
      windows: usage.windows,
      bannedUntil: usage.bannedUntil === 0 ? undefined : usage.bannedUntil,
      readAt: usage.now,
    };
  }

  async countAuthFailure(address: string, cost: 0 | 1): Promise<RateLimitDecision> {
    const network = toNetwork(address);
    const full = this.addresses.get(network, this.time.monotonic());
    if (full !== undefined) {
      return authFailure(full.window, cost === 1, this.time.now());
    }
    if (cost === 0) {
      // No request is rejected here, so a call to Redis is not worth its cost.
      return this.memory.countAuthFailure(address, 0);
    }
    const { reply: count } = await this.breakerFor(network).execute(() => this.store.countAuthFailure(network, cost));
    if (count === undefined) {
      return this.memory.countAuthFailure(address, cost);
    }
    this.time.follow(count.now);
    const { window, isAdmitted } = count;
    this.memory.adoptAuthFailures(address, window);
    if (!isAdmitted) {
      const elapsed = this.time.monotonic();
      const expiresAt = elapsed + Math.min(window.endsAt - count.now, CACHE_MS);
      this.addresses.set(network, { window, expiresAt }, elapsed);
    }
    return authFailure(window, !isAdmitted, count.now);
  }

  private countArrived(): void {
    const { arrived } = this;
    this.arrived = new Map();
    const byBreaker = new Map<CircuitBreaker, Arrival[]>();
    arrived.forEach((together, principal) => {
      const breaker = this.breakerFor(`${principal.accountId}`);
      const arrivals = byBreaker.get(breaker) ?? [];
      arrivals.push({ principal, together });
      byBreaker.set(breaker, arrivals);
    });
    const { maxBatchSize } = this.store;
    byBreaker.forEach((arrivals, breaker) => {
      for (let start = 0; start < arrivals.length; start += maxBatchSize) {
        void this.countBatch(breaker, arrivals.slice(start, start + maxBatchSize));
      }
    });
  }

  /** Makes one call to Redis for requests that arrived in one event-loop tick. */
  private async countBatch(breaker: CircuitBreaker, arrivals: readonly Arrival[]): Promise<void> {
    const outcome = await breaker.execute(() => this.requestCounts(arrivals));
    const { reply } = outcome;
    if (reply === undefined) {
      const findLateCount = async (index: number) => (await outcome.late)?.[index];
      await Promise.all(arrivals.map((arrival, index) => this.countInMemory(arrival, findLateCount(index))));
      return;
    }
    reply.forEach((count, index) => {
      const arrival = arrivals[index];
      if (arrival !== undefined) {
        this.decide(arrival, count);
      }
    });
  }

  private decide({ principal, together }: Arrival, count: RequestCount): void {
    this.time.follow(count.now);
    this.learnBan(principal, count);
    const { now, admissions, rejections, bannedUntil, windows } = count;
    const passing = admissions + rejections > 0 ? this.memory.syncWindows(principal.accountId, count) : 0;
    together.forEach((decide, index) => {
      if (index < passing) {
        decide(admitted(usedBefore(windows, admissions - index - 1), now));
      } else if (index < admissions) {
        decide(rejected(this.memory.getWindows(principal), now));
      } else {
        decide(index < admissions + rejections ? rejected(windows, now) : banned(principal, bannedUntil, now));
      }
    });
  }

  /** Reports the pending usage of the accounts to Redis, then counts the requests. */
  private async requestCounts(arrivals: readonly Arrival[]): Promise<RequestCount[]> {
    const pending = arrivals.flatMap(({ principal }) => this.memory.pendingUsage(principal.accountId) ?? []);
    // Both use one connection and the reports are sent first, so that Redis counts them in.
    const reports = pending.map((each) => this.store.merge(each));
    const [counts] = await Promise.all([
      this.store.countRequests(
        arrivals.map(({ principal, together }) => ({ subject: principal, requests: together.length })),
      ),
      ...reports,
    ]);
    pending.forEach(({ acknowledge }) => {
      acknowledge();
    });
    return counts;
  }

  private async countInMemory(
    { principal, together }: Arrival,
    late: Promise<RequestCount | undefined>,
  ): Promise<void> {
    const decisions = together.map(() => this.memory.countRequest(principal));
    const admissions = decisions.filter(({ rejection }) => rejection === undefined).length;
    const settle = this.memory.hold(principal.accountId, admissions);
    together.forEach((decide, index) => {
      const decision = decisions[index];
      if (decision !== undefined) {
        decide(decision);
      }
    });
    const count = await late;
    settle(count);
    if (count !== undefined) {
      this.learnBan(principal, count);
    }
    await this.report(this.memory.pendingUsage(principal.accountId));
  }

  private learnBan(principal: Principal, { now, bannedUntil, imposesBan }: RequestCount): void {
    if (bannedUntil === 0) {
      return;
    }
    const elapsed = this.time.monotonic();
    const expiresAt = elapsed + Math.min(bannedUntil - now, CACHE_MS);
    this.bans.set(principal.keyId, { unbanCount: principal.unbanCount, bannedUntil, expiresAt }, elapsed);
    this.memory.adoptBan(principal, bannedUntil - now);
    if (imposesBan) {
      this.events.recordBan(principal, bannedUntil);
    }
  }

  /** Returns the breaker of the node with this hash tag. */
  private breakerFor(tag: string): CircuitBreaker {
    const node = this.store.findNode(tag);
    let breaker = this.breakers.get(node);
    if (breaker === undefined) {
      breaker = this.newBreaker(node, tag);
      this.breakers.set(node, breaker);
    }
    return breaker;
  }

  private newBreaker(node: string, tag: string): CircuitBreaker {
    const details = node === '' ? {} : { node };
    return new CircuitBreaker({
      replyLimitMs: this.replyLimitMs,
      probe: async () => {
        this.time.follow(await this.store.probe(tag));
      },
      reconnect: () => {
        this.store.reconnect(node);
      },
      onReply: (ms) => {
        this.events.recordReply(ms);
      },
      onOpen: (cause) => {
        this.events.breakerOpenings++;
        this.updateDegraded();
        const reason = errorMessage(cause);
        this.logger.warn(
          { event: 'breaker_opened', reason, ...details },
          `Redis is unavailable (${reason}): this replica counts requests locally until it recovers.`,
        );
      },
      onClose: () => {
        this.updateDegraded();
        this.logger.warn(
          { event: 'breaker_closed', ...details },
          'Redis is available again: all replicas share their counts.',
        );
        void this.reportPending();
      },
    });
  }

  private updateDegraded(): void {
    this.events.isDegraded = [...this.breakers.values()].some(({ isOpen }) => isOpen);
  }

  /** Reports all requests admitted locally to Redis, including those of accounts that send no more requests. */
  private async reportPending(): Promise<void> {
    const all = [...this.memory.allPendingUsage()];
    for (let start = 0; start < all.length; start += REPORT_BATCH_SIZE) {
      await Promise.all(all.slice(start, start + REPORT_BATCH_SIZE).map((pending) => this.report(pending)));
    }
  }

  private async report(pending: PendingUsage | undefined): Promise<void> {
    if (pending === undefined) {
      return;
    }
    const outcome = await this.breakerFor(`${pending.accountId}`).execute(() => this.store.merge(pending));
    if ((outcome.reply ?? (await outcome.late)) !== undefined) {
      pending.acknowledge();
    }
  }
}

/** Returns the windows as they were before the last `requests` requests. */
function usedBefore({ minute, day }: AccountWindows, requests: number): AccountWindows {
  return { minute: { ...minute, used: minute.used - requests }, day: { ...day, used: day.used - requests } };
}
