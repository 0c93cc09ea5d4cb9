import { serializeFilters } from './pagination';

describe('The filters of a list', () => {
  it('are serialized so that a URL has their values, and other values never the same text', () => {
    const filters = { name: 'A&status=sold <1>; "日本" 100%', petId: 5n, from: new Date(0), status: undefined };
    const query = new URLSearchParams(serializeFilters(filters));
    expect([...query]).toEqual([
      ['name', filters.name],
      ['petId', '5'],
      ['from', '1970-01-01T00:00:00.000Z'],
    ]);
    expect(serializeFilters(filters)).toMatch(/^[\x21-\x7e]+$/);
    expect(serializeFilters({ status: 'sold' })).toBe('&status=sold');
    expect(serializeFilters({ status: ['a', 'b,c'], none: [], min: 1, isOpen: false })).toBe(
      '&status=a&status=b%2Cc&min=1&isOpen=false',
    );
  });
});
