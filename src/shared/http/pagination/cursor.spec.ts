import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor';

const id = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
const filter = fc.constantFrom('', 'available', 'pending', 'sold');
const change = fc.tuple(fc.nat(15), fc.constantFrom(...'ABab01_-='));

describe('A cursor', () => {
  it('decodes to its ID for the same filters, and is rejected for others or if any of its characters is changed', () => {
    fc.assert(
      fc.property(id, filter, filter, change, (after, status, other, [at, character]) => {
        const cursor = encodeCursor(after, status);
        expect(decodeCursor(cursor, status)).toBe(after);
        fc.pre(status !== other && cursor[at] !== character);
        expect(() => decodeCursor(cursor, other)).toThrow(/other filters/);
        const damaged = cursor.slice(0, at) + character + cursor.slice(at + 1);
        expect(() => decodeCursor(damaged, status)).toThrow(/damaged/);
      }),
    );
  });
});
