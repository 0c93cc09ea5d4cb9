import { Logger } from '@nestjs/common';
import { ServiceUnavailable } from '../shared/domain/pet-store-error';
import type { ApiKeyRepository, KeyUse } from './domain/api-key.repository';
import { KeyUses } from './key-uses';

describe('The last use of a key', () => {
  let now: number;
  let written: (readonly KeyUse[])[];
  let failure: Error | undefined;
  let uses: KeyUses;

  beforeEach(() => {
    jest.useFakeTimers();
    [now, written, failure] = [0, [], undefined];
    const noteUses = (batch: readonly KeyUse[]) => {
      written.push(batch);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    };
    uses = new KeyUses({ noteUses } as unknown as ApiKeyRepository, { now: () => now, monotonic: () => now });
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const noteAt = (time: number, keyId: bigint) => {
    now = time;
    uses.note(keyId);
  };

  it('is written in the background, for many keys together, and not again while they are not used', async () => {
    uses.onApplicationBootstrap();
    noteAt(1, 7n);
    noteAt(2, 8n);
    noteAt(3, 7n);
    expect(written).toEqual([]);
    await jest.advanceTimersByTimeAsync(60_000);
    const latest = [
      { keyId: 7n, at: new Date(3) },
      { keyId: 8n, at: new Date(2) },
    ];
    expect(written).toEqual([latest]);
    await uses.onApplicationShutdown();
    expect(written).toEqual([latest]);
  });

  it('is written when the service stops, and nothing after that', async () => {
    uses.onApplicationBootstrap();
    noteAt(1, 7n);
    await uses.onApplicationShutdown();
    expect(written).toEqual([[{ keyId: 7n, at: new Date(1) }]]);
    noteAt(2, 7n);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(written).toHaveLength(1);
  });

  it('is written in batches when there are very many', async () => {
    for (let keyId = 1n; keyId <= 2_001n; keyId++) {
      uses.note(keyId);
    }
    await uses.write();
    expect(written.map(({ length }) => length)).toEqual([1_000, 1_000, 1]);
  });

  it('is lost with a database that is away, and nothing else is', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    failure = new ServiceUnavailable();
    for (let keyId = 1n; keyId <= 2_001n; keyId++) {
      uses.note(keyId);
    }
    await uses.write();
    expect(written).toHaveLength(1);
    expect(logged).not.toHaveBeenCalled();
    failure = undefined;
    noteAt(1, 7n);
    await uses.write();
    expect(written.slice(1)).toEqual([[{ keyId: 7n, at: new Date(1) }]]);
  });

  it('says in the log what is wrong otherwise', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    failure = new Error('a fault');
    uses.note(7n);
    await uses.write();
    expect(logged).toHaveBeenCalledWith(failure);
  });
});
