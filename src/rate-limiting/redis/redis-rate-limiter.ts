import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../shared/domain/clock';
import { ExpiringMap } from '../../shared/domain/expiring-map';
import { reasonOf } from '../../shared/domain/reason';
import type { Principal } from '../../shared/domain/principal';
import type { RateLimitSettings } from '../../config/settings';
import { type RateDecision, RateLimiter } from '../domain/rate-limiter';
import { type AccountWindows, admitted, authFailure, banned, refused, type Window } from '../domain/windows';
import { MemoryRateLimiter } from '../memory/memory-rate-limiter';
import { networkOf } from '../network';
import type { RedisCounts } from './redis-counts';
import { TimeoutError, withTimeout } from './with-timeout';

/** A reply that takes longer opens the breaker. */
const REPLY_LIMIT_MS = 50;
/** How long the start waits for a first connection. */
const CONNECT_LIMIT_MS = 1_000;
/** How often an open breaker asks whether Redis is back, and when it gives up a connection that does not answer. */
const PROBE_INTERVAL_MS = 250;
const PROBE_LIMIT_MS = 1_500;
/** How long a refusal that more requests cannot change is answered without asking: changes must show within a second. */
const REMEMBER_MS = 1_000;
const REMEMBERED_REFUSALS = 100_000;

type Decide = (decision: RateDecision) => void;

interface KnownBan {
  readonly unbanCount: number;
  readonly bannedUntil: number;
  /** By the monotonic clock. */
  readonly expiresAt: number;
}

/**
 * The limiter of all replicas that share a Redis. Behind a breaker: while Redis fails or is slow, the replica goes on by
 * itself from what it last knew, in memory, and tells Redis what it admitted as soon as Redis is back. So no replica ever
 * admits more than the allowance in a window. Bans, and addresses over their limit, are remembered for a second, so that
 * a flood of refused requests costs Redis next to nothing.
 */
export class RedisRateLimiter extends RateLimiter implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RedisRateLimiter.name);
  private readonly time: RedisTime;
  private readonly memory: MemoryRateLimiter;
  private readonly bans = new ExpiringMap<bigint, KnownBan>(REMEMBERED_REFUSALS);
  private readonly addresses = new ExpiringMap<string, { window: Window; expiresAt: number }>(REMEMBERED_REFUSALS);
  private arrived = new Map<Principal, Decide[]>();
  private breaker: 'starting' | 'closed' | 'open' | 'stopped' = 'starting';

  constructor(
    private readonly counts: RedisCounts,
    clock: Clock,
    settings: RateLimitSettings,
    private readonly replyLimitMs: number = REPLY_LIMIT_MS,
  ) {
    super();
    this.time = new RedisTime(clock);
    this.memory = new MemoryRateLimiter(this.time, settings);
    this.memory.events.onBan = (principal, bannedUntil) => {
      this.events.recordBan(principal, bannedUntil);
    };
  }

  async onModuleInit(): Promise<void> {
    try {
      await withTimeout(CONNECT_LIMIT_MS, this.counts.connect());
      this.close(await withTimeout(CONNECT_LIMIT_MS, this.counts.probe()));
    } catch (error) {
      this.open(error);
    }
  }

  onApplicationShutdown(): void {
    this.breaker = 'stopped';
    this.counts.close();
  }

  countRequest(principal: Principal): RateDecision | Promise<RateDecision> {
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

  async countAuthFailure(address: string, cost: 0 | 1): Promise<RateDecision> {
    const network = networkOf(address);
    const full = this.addresses.get(network, this.time.monotonic());
    if (full !== undefined) {
      return authFailure(full.window, cost === 1, this.time.now());
    }
    const count = await this.ask(() => this.counts.countAuthFailure(network, cost));
    if (count === undefined) {
      return this.memory.countAuthFailure(address, cost);
    }
    const { window, isAdmitted } = count;
    if (!isAdmitted) {
      const elapsed = this.time.monotonic();
      const expiresAt = elapsed + Math.min(window.endsAt - count.now, REMEMBER_MS);
      this.addresses.set(network, { window, expiresAt }, elapsed);
    }
    return authFailure(window, !isAdmitted, count.now);
  }

  private countArrived(): void {
    const { arrived } = this;
    this.arrived = new Map();
    arrived.forEach((together, principal) => void this.countTogether(principal, together));
  }

  /** Asks Redis once about all requests of a key that came in one turn of the event loop. */
  private async countTogether(principal: Principal, together: readonly Decide[]): Promise<void> {
    const count = await this.ask(() => this.counts.countRequests(principal, together.length));
    if (count === undefined) {
      together.forEach((decide) => {
        decide(this.memory.countRequest(principal));
      });
      return;
    }
    const { keyId, accountId, unbanCount } = principal;
    const { now, admissions, refusals, bannedUntil, windows } = count;
    if (bannedUntil > 0) {
      const elapsed = this.time.monotonic();
      const expiresAt = elapsed + Math.min(bannedUntil - now, REMEMBER_MS);
      this.bans.set(keyId, { unbanCount, bannedUntil, expiresAt }, elapsed);
      this.memory.adoptBan(principal, bannedUntil - now);
      if (windows.minute.endsAt > 0) {
        this.events.recordBan(principal, bannedUntil);
      }
    }
    if (admissions + refusals > 0) {
      this.memory.syncWindows(accountId, windows);
    }
    together.forEach((decide, index) => {
      if (index < admissions) {
        decide(admitted(usedBefore(windows, admissions - index - 1), now));
      } else {
        decide(index < admissions + refusals ? refused(windows, now) : banned(principal, bannedUntil, now));
      }
    });
  }

  /** @returns undefined when Redis cannot say, so that memory must */
  private async ask<T extends { readonly now: number }>(call: () => Promise<T>): Promise<T | undefined> {
    if (this.breaker !== 'closed') {
      return undefined;
    }
    const askedAt = performance.now();
    try {
      const reply = await withTimeout(this.replyLimitMs, call());
      this.events.onReply(performance.now() - askedAt);
      this.time.follow(reply.now);
      return reply;
    } catch (error) {
      this.open(error);
      return undefined;
    }
  }

  private open(error: unknown): void {
    if (this.breaker === 'open' || this.breaker === 'stopped') {
      return;
    }
    this.breaker = 'open';
    this.events.isDegraded = true;
    const reason = reasonOf(error);
    this.logger.warn(
      { event: 'breaker_opened', reason },
      `Redis cannot be used (${reason}): this replica counts requests by itself until it can.`,
    );
    void this.recover();
  }

  private close(now: number): void {
    if (this.breaker === 'stopped') {
      return;
    }
    this.time.follow(now);
    // Sent before anything else is counted there, in the same turn.
    const reports = this.memory.drainPendingUsage().map((use) => this.counts.report(use));
    this.breaker = 'closed';
    this.events.isDegraded = false;
    Promise.all(reports).catch((error: unknown) => {
      this.open(error);
    });
  }

  private async recover(): Promise<void> {
    while (this.breaker === 'open') {
      await sleep(PROBE_INTERVAL_MS, undefined, { ref: false });
      const probe = this.counts.probe();
      try {
        this.close(await withTimeout(this.replyLimitMs, probe));
        this.logger.warn({ event: 'breaker_closed' }, 'Redis can be used again: all replicas count together.');
      } catch (error) {
        if (error instanceof TimeoutError) {
          await withTimeout(PROBE_LIMIT_MS, probe).catch(() => {
            this.counts.reconnect();
          });
        }
      }
    }
  }
}

/** The windows as they were some requests before. */
function usedBefore({ minute, day }: AccountWindows, requests: number): AccountWindows {
  return { minute: { ...minute, used: minute.used - requests }, day: { ...day, used: day.used - requests } };
}

/**
 * Redis's time, by the time that has passed here since Redis last told it; the replica's own until then. Setting the replica's
 * clock does not change it.
 */
class RedisTime extends Clock {
  private origin: number;

  constructor(private readonly clock: Clock) {
    super();
    this.origin = clock.now() - clock.monotonic();
  }

  now(): number {
    return this.origin + this.clock.monotonic();
  }

  monotonic(): number {
    return this.clock.monotonic();
  }

  follow(redisNow: number): void {
    this.origin = redisNow - this.clock.monotonic();
  }
}
