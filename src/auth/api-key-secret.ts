import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { KEY_PREFIX_PATTERN, LIVE_KEY_PREFIX, TEST_KEY_PREFIX } from '../config/brand';
import type { Settings } from '../config/settings';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const START_LENGTH = 4;
const SECRET_PATTERN = new RegExp(`^${KEY_PREFIX_PATTERN}[0-9A-Za-z]{49}$`);
const SECRET_IN_TEXT = new RegExp(`(${KEY_PREFIX_PATTERN})[0-9A-Za-z]+`, 'g');

/** Returns the prefix of the keys of an environment, which distinguishes production keys from all others. */
export function getApiKeyPrefix(environment: Settings['environment']): string {
  return environment === 'production' ? LIVE_KEY_PREFIX : TEST_KEY_PREFIX;
}

/** Generates a secret: the prefix, 32 random bytes as 43 base62 digits, and the CRC-32 of both as 6 digits. */
export function generateSecret(environment: Settings['environment']): string {
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`);
  const withoutChecksum = getApiKeyPrefix(environment) + toBase62(random, RANDOM_LENGTH);
  return withoutChecksum + computeChecksum(withoutChecksum);
}

/** Whether the text can be a key of the environment; if not, no database lookup is needed. */
export function isWellFormedSecret(text: string, environment: Settings['environment']): boolean {
  return (
    SECRET_PATTERN.test(text) &&
    text.startsWith(getApiKeyPrefix(environment)) &&
    text.slice(-CHECKSUM_LENGTH) === computeChecksum(text.slice(0, -CHECKSUM_LENGTH))
  );
}

/** SHA-256 of the secret. A slow password hash is not needed: 256 random bits cannot be guessed. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Returns the part of a secret that is stored to recognize it: its first 4 random characters. */
export function getStart(secret: string): string {
  return getVisiblePart(secret).slice(-START_LENGTH);
}

/** Returns the part of a secret that may be shown: its prefix and its first 4 random characters. */
export function getVisiblePart(secret: string): string {
  return secret.slice(0, START_LENGTH - RANDOM_LENGTH - CHECKSUM_LENGTH);
}

/** Whether a text has a complete API key. */
export function containsSecret(text: string): boolean {
  return (text.match(SECRET_IN_TEXT) ?? []).some((each) => SECRET_PATTERN.test(each));
}

/** Redacts API keys in a text, including incomplete ones; only their prefix remains. */
export function redactSecrets(text: string): string {
  return text.replace(SECRET_IN_TEXT, '$1…');
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
