import { IdempotencyKeyError } from './idempotency-errors';

/**
 * Visible ASCII, 1 to 255 characters: either bare (not starting with a quote) or in double quotes, where `\` escapes a quote or itself (RFC
 * 9651, section 3.3.3, String). Quotes are written as `\x22`, because some client generators copy the pattern into
 * code without escaping it.
 */
export const IDEMPOTENCY_KEY = /^(?:([!#-~][!-~]{0,254})|\x22((?:[!#-[\]-~]|\\[\x22\\]){1,255})\x22)$/;
/** The maximum length of the field value: 255 characters, each escaped, in quotes. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 512;

/**
 * Parses the field value of `Idempotency-Key`; the same key can be sent quoted or bare.
 * @throws IdempotencyKeyError `invalid_idempotency_key`
 */
export function parseIdempotencyKey(value: string): string {
  const [, bare, quoted] = IDEMPOTENCY_KEY.exec(value) ?? [];
  if (bare !== undefined) {
    return bare;
  }
  if (quoted === undefined) {
    throw new IdempotencyKeyError('invalid_idempotency_key');
  }
  return quoted.replace(/\\(.)/g, '$1');
}
