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
    const clock = { now: () => now, monotonic: () => now };
    tracker = new LastUsedTracker({ recordLastUsed } as unknown as ApiKeyRepository, clock);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const recordForKeys = (count: bigint) => {
    for (let keyId = 1n; keyId <= count; keyId++) {
      tracker.record(keyId);
    }
  };
  const getBatchSizesAfter = async (ms: number) => {
    await jest.advanceTimersByTimeAsync(ms);
    return written.map(({ length }) => length);
  };

  it('is written once, in small batches with pauses if there are many keys, so that requests are not delayed', async () => {
    tracker.onApplicationBootstrap();
    recordForKeys(201n);
    now = 3;
    tracker.record(7n);
    expect(await getBatchSizesAfter(14_999)).toEqual([]);
    expect(await getBatchSizesAfter(1)).toEqual([100]);
    expect(await getBatchSizesAfter(49)).toEqual([100]);
    expect(await getBatchSizesAfter(1)).toEqual([100, 100]);
    expect(await getBatchSizesAfter(60_000)).toEqual([100, 100, 1]);
    expect(new Set(written.flat().map(({ keyId }) => keyId)).size).toBe(201);
    expect(written.flat()).toContainEqual({ keyId: 7n, at: new Date(3) });
    await tracker.onApplicationShutdown();
    expect(written).toHaveLength(3);
  });

  it('is written without pauses when the service stops, even during a pause, and never after that', async () => {
    tracker.onApplicationBootstrap();
    recordForKeys(301n);
    expect(await getBatchSizesAfter(15_000)).toEqual([100]);
    await tracker.onApplicationShutdown();
    expect(await getBatchSizesAfter(60_000)).toEqual([100, 100, 100, 1]);
    tracker.record(7n);
    expect(await getBatchSizesAfter(60_000)).toEqual([100, 100, 100, 1]);
  });

  it('is lost if the database is unavailable, but those of the following batches are written later', async () => {
    failure = new ServiceUnavailableError();
    recordForKeys(201n);
    await tracker.write();
    expect([written.length, errors]).toEqual([1, []]);
    failure = undefined;
    tracker.record(1n);
    await tracker.write();
    expect(await getBatchSizesAfter(0)).toEqual([100, 100, 2]);
    expect(new Set(written.flat().map(({ keyId }) => keyId)).size).toBe(201);
  });

  it('is logged as an error if it cannot be written for another reason, and later batches are written', async () => {
    failure = new Error('a fault');
    recordForKeys(201n);
    const writing = tracker.write();
    const fault = failure;
    failure = undefined;
    await writing;
    expect(errors).toEqual([fault]);
    expect(await getBatchSizesAfter(0)).toEqual([100, 100, 1]);
  });
});
