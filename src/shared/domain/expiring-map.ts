const SWEEP_INTERVAL_MS = 60_000;

/**
 * A map bounded in size and time: expired entries are removed at most a minute after another entry is set,
 * and past `capacity` the entry that was set longest ago goes first. Times are in milliseconds.
 */
export class ExpiringMap<K, V extends { readonly expiresAt: number }> {
  private readonly entries = new Map<K, V>();
  private sweptAt = -Infinity;

  constructor(private readonly capacity: number) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: K, now: number): V | undefined {
    const value = this.entries.get(key);
    return value !== undefined && value.expiresAt > now ? value : undefined;
  }

  set(key: K, value: V, now: number): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (Math.abs(now - this.sweptAt) >= SWEEP_INTERVAL_MS) {
      this.sweep(now);
    }
    if (this.entries.size > this.capacity) {
      for (const oldest of this.entries.keys()) {
        this.entries.delete(oldest);
        break;
      }
    }
  }

  private sweep(now: number): void {
    this.sweptAt = now;
    for (const [key, { expiresAt }] of this.entries) {
      if (expiresAt <= now) {
        this.entries.delete(key);
      }
    }
  }
}
