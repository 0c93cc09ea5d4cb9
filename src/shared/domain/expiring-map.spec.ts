import { ExpiringMap } from './expiring-map';

describe('A full ExpiringMap', () => {
  it('evicts the entry that was set least recently', () => {
    const map = new ExpiringMap<string, { expiresAt: number }>(2);
    for (const key of ['a', 'b', 'a', 'c']) {
      map.set(key, { expiresAt: 1_000 }, 0);
    }
    expect([...map.entries(1)].map(([key]) => key)).toEqual(['a', 'c']);
  });
});
