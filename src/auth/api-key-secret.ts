import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Settings } from '../config/settings';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PATTERN = /^pets_(live|test)_[0-9A-Za-z]{49}$/;
const ANYWHERE = /(pets_(?:live|test)_)[0-9A-Za-z]+/g;

/** Returns the prefix of the keys of an environment, which distinguishes production keys from all others. */
export function keyPrefix(environment: Settings['environment']): string {
  return environment === 'production' ? 'pets_live_' : 'pets_test_';
}

/** Generates a secret: the prefix, 32 random bytes as 43 base62 digits, and a CRC-32 of both as 6. */
export function generateSecret(environment: Settings['environment']): string {
  const random = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`);
  const unchecked = keyPrefix(environment) + toBase62(random, SECRET_LENGTH);
  return unchecked + computeChecksum(unchecked);
}

/** Whether the text can be a key of the environment; if not, no database lookup is needed. */
export function isWellFormedSecret(text: string, environment: Settings['environment']): boolean {
  return (
    PATTERN.test(text) &&
    text.startsWith(keyPrefix(environment)) &&
    text.slice(-CHECKSUM_LENGTH) === computeChecksum(text.slice(0, -CHECKSUM_LENGTH))
  );
}

/** SHA-256 of the secret. A slow password hash is not needed: 256 random bits cannot be guessed. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Returns the part of a secret that may be shown: its first 4 random characters. */
export function firstCharacters(secret: string): string {
  const prefixLength = secret.length - SECRET_LENGTH - CHECKSUM_LENGTH;
  return secret.slice(prefixLength, prefixLength + 4);
}

/** Removes API keys from a text, complete or damaged. */
export function redactSecrets(text: string): string {
  return text.replace(ANYWHERE, '$1…');
}

function computeChecksum(text: string): string {
  return toBase62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function toBase62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) {
    digits = ALPHABET.charAt(Number(rest % 62n)) + digits;
  }
  return digits;
}
