import { Logger } from '@nestjs/common';
import { TestClock } from '../../test/support/test-clock';
import { loadSettings } from '../config/settings';
import { ServiceUnavailableError } from '../shared/domain/pet-store-error';
import { generateSecret, hashSecret } from './api-key-secret';
import { Authenticator } from './authenticator';
import type { Plan } from './domain/account';
import type { AccountChanges, ApiKeyRepository, ChangesPosition, KeyLookup } from './domain/api-key.repository';
import { LastUsedTracker } from './last-used-tracker';
import { ApiKeyCache } from './api-key-cache';

/** A repository of one key, which can be delayed, broken and replaced. */
class SingleKeyRepository {
  readonly secret = generateSecret('development');
  plan: Plan = 'free';
  revokedAt: Date | null = null;
  expiresAt: Date | null = null;
  source = 'primary';
  failure: Error | undefined;
  lookupFailure: Error | undefined;
  lookupCount = 0;
  pollCount = 0;
  /** What lookups and polls wait for after reading. */
  lookupReply: Promise<void> = Promise.resolve();
  pollReply: Promise<void> = Promise.resolve();
  private changes = 0;

  change(change: Partial<Pick<SingleKeyRepository, 'plan' | 'revokedAt' | 'expiresAt'>>): void {
    Object.assign(this, change);
    this.changes++;
  }

  async findByHashes(hashes: readonly Buffer[]): Promise<KeyLookup> {
    this.lookupCount++;
    const { plan, revokedAt, expiresAt, source, secret, failure } = this;
    const hash = hashSecret(secret);
    await this.lookupReply;
    const error = failure ?? this.lookupFailure;
    if (error !== undefined) {
      throw error;
    }
    const key = {
      id: 7n,
      accountId: 3n,
      hash,
      start: 'abcd',
      scope: 'write' as const,
      expiresAt,
      revokedAt,
      unbanCount: 0,
    };
    const account = { plan, perMinute: null, perDay: null, suspendedAt: null };
    return { keys: hashes.some((each) => each.equals(hash)) ? [{ key, account }] : [], source };
  }

  async findChangesSince(position: ChangesPosition | undefined): Promise<AccountChanges> {
    this.pollCount++;
    const { source, changes, failure } = this;
    await this.pollReply;
    if (failure !== undefined) {
      throw failure;
    }
    const accountIds = new Set(position?.snapshot === `${changes}` ? [] : [3n]);
    return {
      accountIds: position?.source === source ? accountIds : 'all',
      position: { source, snapshot: `${changes}` },
    };
  }
}

describe('A valid key', () => {
  let clock: TestClock;
  let database: SingleKeyRepository;
  let lastUsed: LastUsedTracker;
  let cache: ApiKeyCache;
  let authenticator: Authenticator;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    clock = new TestClock();
    database = new SingleKeyRepository();
    const repository = database as unknown as ApiKeyRepository;
    lastUsed = new LastUsedTracker(repository, clock);
    cache = new ApiKeyCache(repository, clock, lastUsed);
    authenticator = new Authenticator(clock, loadSettings({}), lastUsed, cache);
  });
  afterEach(() => {
    cache.onApplicationShutdown();
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  /** The result of a request with the key: its plan, or the error code. */
  const use = async (): Promise<string> => {
    try {
      const principal =
        authenticator.findCached(database.secret) ?? (await authenticator.authenticate(database.secret));
      return principal.plan;
    } catch (error) {
      return (error as ServiceUnavailableError).code;
    }
  };
  /** Uses the key at an interval. @returns the result of the last request */
  const useFor = async (ms: number, intervalMs = 50): Promise<string> => {
    for (let passed = 0; passed < ms; passed += intervalMs) {
      clock.advance(intervalMs);
      await jest.advanceTimersByTimeAsync(intervalMs);
      await use();
    }
    return use();
  };
  const countLookupsWhile = async (work: () => Promise<unknown>): Promise<number> => {
    const before = database.lookupCount;
    await work();
    return database.lookupCount - before;
  };
  const hold = () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    return { held, release };
  };

  it('is looked up again after five minutes, in case nothing recorded its revocation', async () => {
    await useFor(1_000);
    expect(await countLookupsWhile(() => useFor(298_000, 500))).toBe(0);
    expect(await countLookupsWhile(() => useFor(602_000, 500))).toBe(3);
    database.revokedAt = new Date(0);
    expect(await useFor(300_000, 500)).toBe('invalid_api_key');
  });

  it('is usable while looking it up again fails, for five minutes after the last lookup', async () => {
    await useFor(1_000);
    database.lookupFailure = new ServiceUnavailableError(new Error('The table is locked'));
    expect(await useFor(298_000, 500)).toBe('free');
    expect(await useFor(2_000)).toBe('service_unavailable');
    database.lookupFailure = undefined;
    expect(await use()).toBe('free');
  });

  it('is found even if the lookup of another key of the same event-loop tick fails', async () => {
    const fault = new Error('a fault');
    const [broken, unknown] = [generateSecret('development'), generateSecret('development')];
    const read = database.findByHashes.bind(database);
    jest.spyOn(database, 'findByHashes').mockImplementation((hashes) => {
      return hashes.some((hash) => hash.equals(hashSecret(broken))) ? Promise.reject(fault) : read(hashes);
    });
    const results = await Promise.allSettled(
      [broken, database.secret, unknown].map((token) => authenticator.authenticate(token)),
    );
    expect(results).toMatchObject([
      { reason: fault },
      { value: { plan: 'free' } },
      { reason: { code: 'invalid_api_key' } },
    ]);
  });

  it('is rejected if its expiry cannot be read', async () => {
    database.expiresAt = new Date(NaN);
    expect(await use()).toBe('expired_api_key');
    await useFor(1_000);
    expect(await use()).toBe('expired_api_key');
  });

  it('is recorded as used once a minute while it is in use', async () => {
    const recorded = jest.spyOn(lastUsed, 'record');
    await useFor(1_000);
    recorded.mockClear();
    await useFor(184_000, 500);
    expect(recorded.mock.calls).toEqual([[7n], [7n], [7n]]);
  });

  it('is rejected when the clock is set to after its expiry', async () => {
    database.change({ expiresAt: new Date(clock.now() + 3_600_000) });
    await useFor(1_000);
    clock.set(clock.now() + 3_600_000);
    expect(await use()).toBe('expired_api_key');
  });

  it('is looked up for every request while polls fail, hang or are slow, so a revocation takes effect within a second', async () => {
    await useFor(1_000);
    const polls = hold();
    database.pollReply = polls.held;
    database.change({ revokedAt: new Date(0) });
    expect(await useFor(1_000)).toBe('invalid_api_key');
    database.change({ revokedAt: null });
    expect(await use()).toBe('free');
    database.change({ revokedAt: new Date(0) });
    expect(await use()).toBe('invalid_api_key');
    polls.release();
  });

  it('is looked up again if the last poll took too long', async () => {
    await useFor(1_000);
    const polls = hold();
    database.pollReply = polls.held;
    await useFor(2_000);
    // Its result may be more than a second old.
    const next = hold();
    database.pollReply = next.held;
    polls.release();
    await jest.advanceTimersByTimeAsync(0);
    expect(await countLookupsWhile(use)).toBe(1);
    next.release();
    await useFor(500);
    expect(await countLookupsWhile(use)).toBe(0);
  });

  it('is not cached by a lookup that began before a change that has since arrived', async () => {
    await useFor(1_000);
    cache.onApplicationShutdown();
    cache = new ApiKeyCache(database as unknown as ApiKeyRepository, clock, lastUsed);
    authenticator = new Authenticator(clock, loadSettings({}), lastUsed, cache);
    authenticator.findCached('another');
    await jest.advanceTimersByTimeAsync(0);
    const lookup = hold();
    database.lookupReply = lookup.held;
    const early = use();
    // The lookup has read the key, and its response is on the way.
    await new Promise(setImmediate);
    database.change({ revokedAt: new Date(0) });
    clock.advance(250);
    await jest.advanceTimersByTimeAsync(250);
    lookup.release();
    expect(await early).toBe('free');
    expect(await use()).toBe('invalid_api_key');
  });

  it('is not looked up by joining an earlier lookup, which may have missed a change', async () => {
    const lookup = hold();
    database.lookupReply = lookup.held;
    const early = use();
    await new Promise(setImmediate);
    database.change({ revokedAt: new Date(0) });
    const late = use();
    await new Promise(setImmediate);
    lookup.release();
    expect([await early, await late]).toEqual(['free', 'invalid_api_key']);
  });

  it('is evicted when another database takes over, which may lack changes', async () => {
    await useFor(1_000);
    database.source = 'standby';
    database.revokedAt = new Date(0);
    expect(await useFor(350)).toBe('invalid_api_key');
  });

  it('is not cached from a database that has been replaced', async () => {
    await useFor(1_000);
    database.source = 'standby';
    await useFor(300);
    database.change({ plan: 'pro' });
    const read = database.findByHashes.bind(database);
    jest
      .spyOn(database, 'findByHashes')
      .mockImplementation(async (hashes) => ({ ...(await read(hashes)), source: 'primary' }));
    await useFor(1_000);
    expect(await countLookupsWhile(use)).toBe(1);
  });

  it('causes no polls while it is unused', async () => {
    await useFor(1_000);
    clock.advance(1_000);
    await jest.advanceTimersByTimeAsync(1_000);
    const { pollCount } = database;
    clock.advance(30_000);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(database.pollCount).toBe(pollCount);
    database.change({ plan: 'pro' });
    expect(await use()).toBe('pro');
  });

  it('is looked up for every request, and the error is logged once, if polls fail unexpectedly', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    await useFor(1_000);
    const fault = new Error('a fault');
    jest.spyOn(database, 'findChangesSince').mockRejectedValue(fault);
    await useFor(1_000);
    expect(await countLookupsWhile(() => useFor(500))).toBeGreaterThanOrEqual(10);
    expect(logged.mock.calls).toEqual([[fault]]);
  });
});
