import fc from 'fast-check';
import { parseJsonNumber, isInt64, parsePositiveInt64 } from './int64';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('int64', () => {
  it('is any bigint from -2^63 to 2^63 - 1, and no other type', () => {
    expect([-(2n ** 63n), 2n ** 63n - 1n, 0n].every(isInt64)).toBe(true);
    expect([-(2n ** 63n) - 1n, 2n ** 63n, 5, '5', null, undefined].some(isInt64)).toBe(false);
  });

  it('is parsed from the canonical form of every positive int64, and from no other text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (value) => {
        expect(parsePositiveInt64(value.toString())).toBe(value);
        expect(parsePositiveInt64(`0${value}`)).toBeUndefined();
        expect(parsePositiveInt64((value + 2n ** 63n).toString())).toBeUndefined();
      }),
    );
  });

  it('is parsed exactly from any JSON spelling of an integer: safe ones as a number, others as a bigint', () => {
    fc.assert(
      fc.property(int64, fc.nat(18), (value, shift) => {
        const digits = value.toString().padEnd(1, '0');
        const negative = digits.startsWith('-');
        const unsigned = (negative ? digits.slice(1) : digits).padStart(shift + 1, '0');
        const whole = unsigned.slice(0, unsigned.length - shift) || '0';
        const shifted = `${negative ? '-' : ''}${whole}.${unsigned.slice(unsigned.length - shift) || '0'}e${shift}`;
        const expected = Number.isSafeInteger(Number(value)) ? Number(value) : value;
        for (const text of [digits, `${digits}.0`, `${digits}e0`, `${digits}00E-2`, shifted]) {
          expect([text, parseJsonNumber(text)]).toEqual([text, expected]);
        }
      }),
    );
  });

  it('is never parsed from a fraction, however small', () => {
    fc.assert(
      fc.property(int64, fc.integer({ min: 1, max: 50 }), (value, zeros) => {
        const read = parseJsonNumber(`${value}.${'0'.repeat(zeros)}1`);
        expect([typeof read, Number.isInteger(read)]).toEqual(['number', false]);
      }),
    );
  });

  it('is told apart from a decimal, which is parsed as the nearest double that is no integer, or as NaN', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        fc.pre(!Number.isInteger(value));
        expect(parseJsonNumber(`${value}`)).toBe(value);
      }),
    );
    expect(['5.5', '-0.25', '1e-7', '12.5E-1'].map(parseJsonNumber)).toEqual([5.5, -0.25, 1e-7, 1.25]);
    expect(['0.99999999999999999999', '1e-999999999', '100.00000000000000001'].map(parseJsonNumber)).toEqual([
      1 + Number.EPSILON,
      Number.MIN_VALUE,
      100 * (1 + Number.EPSILON),
    ]);
    expect(parseJsonNumber('-1e-999')).toBe(-Number.MIN_VALUE);
    expect(parseJsonNumber('9007199254740992.5')).toBeNaN();
  });

  it.each([
    ['an integer', `1${'0'.repeat(65_000)}1`],
    ['a decimal', `0.1${'0'.repeat(65_000)}1`],
    ['a whole decimal', `5.${'0'.repeat(65_000)}`],
    ['zero', `0.${'0'.repeat(65_000)}`],
  ])('is parsed from %s as long as a body can be, without delay', (_what, text) => {
    const startedAt = performance.now();
    parseJsonNumber(text);
    expect(performance.now() - startedAt).toBeLessThan(100);
  });
});
