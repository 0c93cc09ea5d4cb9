import { ExpiringMap } from './expiring-map';

describe('ExpiringMap', () => {
  it('returns an entry until it expires', () => {
    const map = new ExpiringMap<string, { expiresAt: number }>(10);
    map.set('a', { expiresAt: 100 }, 0);
    expect(map.get('a', 99)).toBeDefined();
    expect(map.get('a', 100)).toBeUndefined();
  });

  it('removes an expired entry within a minute of use', () => {
    const map = new ExpiringMap<number, { expiresAt: number }>(10_000);
    for (let time = 0; time < 1_000_000; time += 100) {
      map.set(time, { expiresAt: time + 1_000 }, time);
    }
    expect(map.size).toBeLessThanOrEqual(610);
  });

  it('evicts the entry that was set first when it is full', () => {
    const map = new ExpiringMap<string, { expiresAt: number }>(2);
    const entry = { expiresAt: 1_000 };
    map.set('a', entry, 0);
    map.set('b', entry, 0);
    map.set('a', entry, 0);
    map.set('c', entry, 0);
    expect(['a', 'b', 'c'].map((key) => map.get(key, 1) !== undefined)).toEqual([true, false, true]);
  });
});
