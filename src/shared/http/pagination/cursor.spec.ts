import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor';

const id = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
const filter = fc.constantFrom('', 'available', 'pending', 'sold');

describe('A cursor', () => {
  it('decodes to the ID that it was made from, for the same filters', () => {
    fc.assert(
      fc.property(id, filter, (after, status) => {
        expect(decodeCursor(encodeCursor(after, status), status)).toBe(after);
      }),
    );
  });

  it('is rejected for other filters', () => {
    fc.assert(
      fc.property(id, filter, filter, (after, status, other) => {
        fc.pre(status !== other);
        expect(() => decodeCursor(encodeCursor(after, status), other)).toThrow(/other filters/);
      }),
    );
  });

  it('is rejected if any of its characters is changed', () => {
    fc.assert(
      fc.property(id, filter, fc.nat(15), fc.constantFrom(...'ABab01_-'), (after, status, at, character) => {
        const cursor = encodeCursor(after, status);
        fc.pre(cursor[at] !== character);
        const damaged = cursor.slice(0, at) + character + cursor.slice(at + 1);
        expect(() => decodeCursor(damaged, status)).toThrow(/damaged/);
      }),
    );
  });

  it.each([undefined, null, 5, [], {}, '', '=', 'AAAAAAAAAAAAAAA=', ' '.repeat(16)])('%j is not a cursor', (value) => {
    expect(() => decodeCursor(value, '')).toThrow(/damaged/);
  });
});
