import { Logger } from '@nestjs/common';
import { ServiceUnavailableError } from '../shared/domain/pet-store-error';
import type { ApiKeyRepository, LastUsedUpdate } from './domain/api-key.repository';
import { LastUsedTracker } from './last-used-tracker';

describe('The last use of a key', () => {
  let now: number;
  let written: (readonly LastUsedUpdate[])[];
  let failure: Error | undefined;
  let tracker: LastUsedTracker;
  let errors: unknown[];

  beforeEach(() => {
    jest.useFakeTimers();
    [now, written, failure, errors] = [0, [], undefined, []];
    const ignore = () => undefined;
    Logger.overrideLogger({ log: ignore, warn: ignore, error: (error: unknown) => errors.push(error) });
    const recordLastUsed = (batch: readonly LastUsedUpdate[]) => {
      written.push(batch);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    };
    tracker = new LastUsedTracker({ recordLastUsed } as unknown as ApiKeyRepository, {
      now: () => now,
      monotonic: () => now,
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const recordAt = (time: number, keyId: bigint) => {
    now = time;
    tracker.record(keyId);
  };

  it('is written in the background, for many keys together, and not again while they are unused', async () => {
    tracker.onApplicationBootstrap();
    recordAt(1, 7n);
    recordAt(2, 8n);
    recordAt(3, 7n);
    expect(written).toEqual([]);
    await jest.advanceTimersByTimeAsync(60_000);
    const latest = [
      { keyId: 7n, at: new Date(3) },
      { keyId: 8n, at: new Date(2) },
    ];
    expect(written).toEqual([latest]);
    await tracker.onApplicationShutdown();
    expect(written).toEqual([latest]);
  });

  it('is written when the service stops, and never after that', async () => {
    tracker.onApplicationBootstrap();
    recordAt(1, 7n);
    await tracker.onApplicationShutdown();
    expect(written).toEqual([[{ keyId: 7n, at: new Date(1) }]]);
    recordAt(2, 7n);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(written).toHaveLength(1);
  });

  const recordForKeys = (count: bigint) => {
    for (let keyId = 1n; keyId <= count; keyId++) {
      tracker.record(keyId);
    }
  };
  const getBatchSizes = () => written.map(({ length }) => length);

  it('is written in small batches with pauses if there are many keys, so that requests are not delayed', async () => {
    tracker.onApplicationBootstrap();
    recordForKeys(201n);
    await jest.advanceTimersByTimeAsync(15_000);
    expect(getBatchSizes()).toEqual([100]);
    await jest.advanceTimersByTimeAsync(49);
    expect(getBatchSizes()).toEqual([100]);
    await jest.advanceTimersByTimeAsync(1);
    expect(getBatchSizes()).toEqual([100, 100]);
    await jest.advanceTimersByTimeAsync(50);
    expect(getBatchSizes()).toEqual([100, 100, 1]);
    expect(new Set(written.flat().map(({ keyId }) => keyId)).size).toBe(201);
  });

  it('is written without pauses when the service stops, even during a pause', async () => {
    tracker.onApplicationBootstrap();
    recordForKeys(301n);
    await jest.advanceTimersByTimeAsync(15_000);
    expect(getBatchSizes()).toEqual([100]);
    await tracker.onApplicationShutdown();
    expect(getBatchSizes()).toEqual([100, 100, 100, 1]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(getBatchSizes()).toEqual([100, 100, 100, 1]);
  });

  it('is lost if the database is unavailable, but those of the following batches are written later', async () => {
    failure = new ServiceUnavailableError();
    recordForKeys(201n);
    await tracker.write();
    expect(getBatchSizes()).toEqual([100]);
    expect(errors).toEqual([]);
    failure = undefined;
    recordAt(1, 7n);
    await tracker.write();
    expect(getBatchSizes()).toEqual([100, 100, 2]);
    expect(new Set(written.flat().map(({ keyId }) => keyId)).size).toBe(201);
    expect(written[2]?.[1]).toEqual({ keyId: 7n, at: new Date(1) });
  });

  it('is logged as an error if it cannot be written for another reason', async () => {
    failure = new Error('a fault');
    tracker.record(7n);
    await tracker.write();
    expect(errors).toEqual([failure]);
  });

  it('is written even if an earlier batch cannot be written', async () => {
    failure = new Error('a fault');
    recordForKeys(201n);
    const writing = tracker.write();
    failure = undefined;
    await writing;
    expect(getBatchSizes()).toEqual([100, 100, 1]);
  });
});
