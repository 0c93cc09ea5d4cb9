import fc from 'fast-check';
import { getFirstCharacters, generateSecret, isWellFormedSecret, redactSecrets } from './api-key-secret';

describe('The secret of an API key', () => {
  it('consists of pets_live_ or pets_test_, 43 random characters and a checksum of 6 characters', () => {
    expect(generateSecret('production')).toMatch(/^pets_live_[0-9A-Za-z]{49}$/);
    expect(generateSecret('staging')).toMatch(/^pets_test_[0-9A-Za-z]{49}$/);
    expect(generateSecret('development')).toMatch(/^pets_test_[0-9A-Za-z]{49}$/);
    expect(new Set(Array.from({ length: 100 }, () => generateSecret('production'))).size).toBe(100);
  });

  it('is valid only in its environment', () => {
    expect(isWellFormedSecret(generateSecret('production'), 'production')).toBe(true);
    expect(isWellFormedSecret(generateSecret('production'), 'staging')).toBe(false);
    expect(isWellFormedSecret(generateSecret('staging'), 'production')).toBe(false);
    expect(isWellFormedSecret(generateSecret('staging'), 'development')).toBe(true);
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
    // CRC-32 of the text, 0x6a331818, computed with another implementation.
    const withoutChecksum = `pets_test_${'0'.repeat(43)}`;
    expect(isWellFormedSecret(`${withoutChecksum}1wZyFU`, 'development')).toBe(true);
  });

  it('is shown as its first 4 random characters', () => {
    const secret = generateSecret('production');
    expect(getFirstCharacters(secret)).toBe(secret.slice(10, 14));
  });

  it('is removed from a text, complete or partial', () => {
    const secret = generateSecret('production');
    expect(redactSecrets(`a ${secret}, ${secret.slice(0, 20)}`)).toBe('a pets_live_…, pets_live_…');
    expect(redactSecrets('pets and tests')).toBe('pets and tests');
  });
});
