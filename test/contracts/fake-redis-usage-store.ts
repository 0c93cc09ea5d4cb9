import { getEnd, mapWindows } from '../../src/rate-limiting/domain/windows';
import { DAY_MS, MINUTE_MS, type WindowName, WINDOWS } from '../../src/shared/domain/allowance';
import type { RateLimitSettings } from '../../src/rate-limiting/settings/rate-limit-settings';
import type {
  ConsumeResult,
  CountResult,
  KeyRequests,
  RedisUsageStore,
} from '../../src/rate-limiting/redis/redis-usage-store';

/** The delay of each direction, or of replies, and where calls fail: immediately, before or after Redis executes them. */
export interface Network {
  readonly delayMs: number;
  readonly replyDelayMs?: number;
  readonly breaks?: 'immediately' | 'before' | 'after';
}

const [, DAY] = WINDOWS;

interface StoredWindow {
  readonly endsAt: number;
  readonly used: number;
}
type Windows = Readonly<Record<WindowName, StoredWindow>>;

/** A simple implementation of the windows in Redis, without bans. Its clock follows the fake timers. */
export class FakeRedis {
  private clockAhead = 0;
  private windows = new Map<bigint, Windows>();
  /** The requests that were taken back. */
  readonly undone: { readonly account: bigint; readonly requests: number }[] = [];

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
    return this.find(account, DAY)?.used ?? 0;
  }

  consume({ subject: { accountId, allowance }, requests, known }: KeyRequests): ConsumeResult {
    const now = this.now();
    const windows = mapWindows((definition) => {
      const { endsAt = 0, admitted = 0 } = known?.[definition.name] ?? {};
      const newEnd = getEnd(definition, now);
      const isKnown = endsAt > now && endsAt <= newEnd;
      const stored = this.find(accountId, definition) ?? { endsAt: isKnown ? endsAt : newEnd, used: 0 };
      return { ...stored, left: allowance[definition.limit] - Math.max(stored.used, isKnown ? admitted : 0) };
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
      ...{ now, admitted, rejected: requests - admitted, bannedUntil: 0, imposesBan: false },
      windows: counted,
    };
  }

  undoConsume(accountId: bigint, requests: number, windows: Windows): number {
    this.undone.push({ account: accountId, requests });
    const stored = this.windows.get(accountId);
    if (stored !== undefined) {
      const undo = ({ endsAt, used }: StoredWindow, counted: StoredWindow) => ({
        endsAt,
        used: endsAt === counted.endsAt ? used - requests : used,
      });
      this.windows.set(
        accountId,
        mapWindows(({ name }) => undo(stored[name], windows[name])),
      );
    }
    return this.now();
  }

  /** Returns the window if it is open. */
  private find(account: bigint, definition: (typeof WINDOWS)[number]): StoredWindow | undefined {
    const [now, window] = [this.now(), this.windows.get(account)?.[definition.name]];
    const isOpen = window !== undefined && window.endsAt > now && window.endsAt <= getEnd(definition, now);
    return isOpen ? window : undefined;
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

  async consume(batch: readonly KeyRequests[], deadline = Infinity): Promise<ConsumeResult[] | undefined> {
    const call = () => batch.map((each) => this.redis.consume(each));
    const [results] = await this.send(() => (this.redis.now() > deadline ? [] : [call()]));
    return results;
  }

  countAuthFailure(): Promise<CountResult> {
    const window = { limit: this.settings.authFailuresPerMinute, used: 0, endsAt: this.redis.now() + MINUTE_MS };
    return this.send(() => ({ now: this.redis.now(), isAdmitted: true, window }));
  }

  throttle(): Promise<CountResult> {
    return this.countAuthFailure();
  }

  isAboutOneSlot(): boolean {
    return false;
  }

  undoConsume(...undone: Parameters<FakeRedis['undoConsume']>): Promise<number> {
    return this.send(() => this.redis.undoConsume(...undone));
  }

  undoThrottle(): Promise<number> {
    return this.probe();
  }

  private async send<T>(execute: () => T): Promise<T> {
    const { delayMs, replyDelayMs = delayMs, breaks } = this.network;
    if (breaks === 'immediately') {
      throw new Error('rejected');
    }
    this.lastArrival = Math.max(this.lastArrival, performance.now() + delayMs);
    await waitUntil(this.lastArrival);
    const reply = breaks === 'before' ? undefined : execute();
    this.lastReply = Math.max(this.lastReply, performance.now() + (breaks === undefined ? replyDelayMs : 1_000));
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
