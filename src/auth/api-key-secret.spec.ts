import fc from 'fast-check';
import { generateSecret, isWellFormedSecret, redactSecrets } from './api-key-secret';

/** A bitwise CRC-32, independent of the implementation under test. */
function computeCrc32(text: string): number {
  let crc = -1;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
  }
  return ~crc >>> 0;
}

function toBase62(value: number): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return (value >= 62 ? toBase62(Math.floor(value / 62)) : '') + digits.charAt(value % 62);
}

describe('The secret of an API key', () => {
  it('consists of pets_live_ or pets_test_, 43 random characters and a checksum of 6 characters', () => {
    expect(generateSecret('production')).toMatch(/^pets_live_[0-9A-Za-z]{49}$/);
    expect(generateSecret('staging')).toMatch(/^pets_test_[0-9A-Za-z]{49}$/);
    expect(generateSecret('development')).toMatch(/^pets_test_[0-9A-Za-z]{49}$/);
    expect(new Set(Array.from({ length: 100 }, () => generateSecret('production'))).size).toBe(100);
  });

  it.each([
    ['production', 'staging'],
    ['staging', 'production'],
  ] as const)('is valid only in its environment (%s)', (own, other) => {
    const secret = generateSecret(own);
    expect([isWellFormedSecret(secret, own), isWellFormedSecret(secret, other)]).toEqual([true, false]);
  });

  it('fails its checksum if any character is changed', () => {
    fc.assert(
      fc.property(fc.nat(58), fc.constantFrom(...'abzAZ09_-'), (at, character) => {
        const secret = generateSecret('production');
        fc.pre(secret[at] !== character);
        expect(isWellFormedSecret(secret.slice(0, at) + character + secret.slice(at + 1), 'production')).toBe(false);
      }),
    );
  });

  it('ends with the CRC-32 of the preceding characters, in base 62', () => {
    expect(computeCrc32('123456789')).toBe(0xcbf43926);
    const withoutChecksum = `pets_test_${'0'.repeat(43)}`;
    const checksum = toBase62(computeCrc32(withoutChecksum)).padStart(6, '0');
    expect(isWellFormedSecret(withoutChecksum + checksum, 'development')).toBe(true);
  });

  it('is removed from a text, complete or partial', () => {
    const secret = generateSecret('production');
    expect(redactSecrets(`a ${secret}, ${secret.slice(0, -40)}`)).toBe('a pets_live_…, pets_live_…');
    expect(redactSecrets('pets and tests')).toBe('pets and tests');
  });
});
