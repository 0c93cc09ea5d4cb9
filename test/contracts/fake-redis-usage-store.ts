import { getEnd, mapWindows } from '../../src/rate-limiting/domain/windows';
import { DAY_MS, MINUTE_MS, type WindowName } from '../../src/shared/domain/allowance';
import type { RateLimitSettings } from '../../src/rate-limiting/settings/rate-limit-settings';
import type {
  ConsumeResult,
  CountResult,
  KeyRequests,
  RedisUsageStore,
} from '../../src/rate-limiting/redis/redis-usage-store';

/** The delay of each direction, and where calls fail: immediately, before or after Redis executes them. */
export interface Network {
  readonly delayMs: number;
  readonly breaks?: 'immediately' | 'before' | 'after';
}

interface StoredWindow {
  readonly endsAt: number;
  readonly used: number;
}
type Windows = Readonly<Record<WindowName, StoredWindow>>;

/** A simple implementation of the windows in Redis, without bans. Its clock follows the fake timers. */
export class FakeRedis {
  private clockAhead = 0;
  private windows = new Map<bigint, Windows>();

  now(): number {
    return Math.floor(Date.UTC(2026, 10, 21, 23, 58) + performance.now() + this.clockAhead);
  }

  shiftClock(byMs: number): void {
    this.clockAhead += byMs;
  }

  loseData(): void {
    this.windows.clear();
  }

  /** The start of the current day. */
  getMidnight(): number {
    return Math.floor(this.now() / DAY_MS) * DAY_MS;
  }

  getDayUsed(account: bigint): number {
    return this.open(account).day.used;
  }

  consume({ subject: { accountId, allowance }, requests, known }: KeyRequests): ConsumeResult {
    const stored = this.open(accountId);
    const windows = mapWindows(({ name, limit }) => {
      const { endsAt = 0, admitted = 0 } = known?.[name] ?? {};
      const isKnown = endsAt > this.now();
      const window = stored[name];
      return {
        endsAt: isKnown ? Math.min(window.endsAt, endsAt) : window.endsAt,
        used: window.used,
        left: allowance[limit] - Math.max(window.used, isKnown ? admitted : 0),
      };
    });
    const admitted = Math.max(0, Math.min(requests, ...Object.values(windows).map(({ left }) => left)));
    const counted = mapWindows(({ name, limit }) => {
      const { used, endsAt } = windows[name];
      return { limit: allowance[limit], used: used + admitted, endsAt };
    });
    if (admitted > 0) {
      this.windows.set(accountId, counted);
    }
    return {
      ...{ now: this.now(), admitted, rejected: requests - admitted, bannedUntil: 0, imposesBan: false },
      windows: counted,
    };
  }

  private open(account: bigint): Windows {
    const now = this.now();
    return mapWindows((definition) => {
      const [window, newEnd] = [this.windows.get(account)?.[definition.name], getEnd(definition, now)];
      const isOpen = window !== undefined && window.endsAt > now && window.endsAt <= newEnd;
      return isOpen ? window : { endsAt: newEnd, used: 0 };
    });
  }
}

/** A replica's connection to the fake Redis. Calls are executed and return in the order in which they were sent. */
export class FakeRedisUsageStore implements Pick<RedisUsageStore, keyof RedisUsageStore> {
  readonly maxBatchSize = 16;
  network: Network = { delayMs: 1 };
  private lastArrival = 0;
  private lastReply = 0;

  constructor(
    private readonly redis: FakeRedis,
    private readonly settings: RateLimitSettings,
  ) {}

  connect(): Promise<void> {
    return Promise.resolve();
  }

  reconnect(): void {
    return;
  }

  close(): void {
    return;
  }

  findNode(): string {
    return '';
  }

  probe(): Promise<number> {
    return this.send(() => this.redis.now());
  }

  consume(batch: readonly KeyRequests[], deadline = Infinity): Promise<ConsumeResult[]> {
    return this.send(() => (this.redis.now() > deadline ? [] : batch.map((each) => this.redis.consume(each))));
  }

  countAuthFailure(): Promise<CountResult> {
    const window = { limit: this.settings.authFailuresPerMinute, used: 0, endsAt: this.redis.now() + MINUTE_MS };
    return this.send(() => ({ now: this.redis.now(), isAdmitted: true, window }));
  }

  throttle(): Promise<CountResult> {
    return this.countAuthFailure();
  }

  undoThrottle(): Promise<void> {
    return this.send(() => undefined);
  }

  private async send<T>(execute: () => T): Promise<T> {
    const { delayMs, breaks } = this.network;
    if (breaks === 'immediately') {
      throw new Error('rejected');
    }
    this.lastArrival = Math.max(this.lastArrival, performance.now() + delayMs);
    await waitUntil(this.lastArrival);
    const reply = breaks === 'before' ? undefined : execute();
    this.lastReply = Math.max(this.lastReply, performance.now() + (breaks === undefined ? delayMs : 1_000));
    await waitUntil(this.lastReply);
    if (breaks !== undefined || reply === undefined) {
      throw new Error('the connection was closed');
    }
    return reply;
  }
}

function waitUntil(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));
}
