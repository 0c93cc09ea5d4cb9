const SWEEP_INTERVAL_MS = 60_000;

/**
 * A map bounded in size and time. `set` removes expired entries, at most once a minute; beyond `capacity`, it evicts the entry
 * that was set least recently. All times are in milliseconds, from the same clock.
 */
export class ExpiringMap<K, V extends { readonly expiresAt: number }> {
  private readonly entriesByAge = new Map<K, V>();
  private sweptAt = -Infinity;

  constructor(private readonly capacity: number) {}

  get size(): number {
    return this.entriesByAge.size;
  }

  get(key: K, now: number): V | undefined {
    const value = this.entriesByAge.get(key);
    return value !== undefined && value.expiresAt > now ? value : undefined;
  }

  /** The entries that have not expired. */
  *entries(now: number): Iterable<[K, V]> {
    for (const entry of this.entriesByAge) {
      if (entry[1].expiresAt > now) {
        yield entry;
      }
    }
  }

  set(key: K, value: V, now: number): void {
    this.entriesByAge.delete(key);
    this.entriesByAge.set(key, value);
    if (Math.abs(now - this.sweptAt) >= SWEEP_INTERVAL_MS) {
      this.sweep(now);
    }
    if (this.entriesByAge.size > this.capacity) {
      for (const oldest of this.entriesByAge.keys()) {
        this.entriesByAge.delete(oldest);
        break;
      }
    }
  }

  delete(key: K): void {
    this.entriesByAge.delete(key);
  }

  clear(): void {
    this.entriesByAge.clear();
  }

  private sweep(now: number): void {
    this.sweptAt = now;
    for (const [key, { expiresAt }] of this.entriesByAge) {
      if (expiresAt <= now) {
        this.entriesByAge.delete(key);
      }
    }
  }
}
