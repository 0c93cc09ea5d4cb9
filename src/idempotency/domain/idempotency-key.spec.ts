import fc from 'fast-check';
import { parseIdempotencyKey } from './idempotency-key';

describe('An Idempotency-Key', () => {
  it('is the same key quoted and bare, for all visible ASCII characters', () => {
    const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string({ unit: character, minLength: 1, maxLength: 255 }), (key) => {
        expect(parseIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`)).toBe(key);
        fc.pre(!key.startsWith('"'));
        expect(parseIdempotencyKey(key)).toBe(key);
      }),
    );
  });

  it.each(['a', 'a'.repeat(255), `"${'a'.repeat(255)}"`, `"${'\\"'.repeat(255)}"`, 'a"b', "'"])(
    'can be %s',
    (value) => {
      expect(() => parseIdempotencyKey(value)).not.toThrow();
    },
  );

  it.each([
    '',
    '""',
    '"',
    '"a',
    '"a"b"',
    '"a\\"',
    '"a\\b"',
    '"a";q=1',
    'a b',
    '"a b"',
    'a, b',
    'a\tb',
    'ä',
    'a\x7f',
    'a'.repeat(256),
    `"${'a'.repeat(256)}"`,
  ])('cannot be %j', (value) => {
    expect(() => parseIdempotencyKey(value)).toThrow('Idempotency-Key must be 1 to 255 visible ASCII characters');
  });
});
