import { IdempotencyKeyError } from './idempotency-errors';

/** Visible ASCII, 1 to 255 characters; bare, so that it does not begin like a quoted one. */
const BARE = /^(?!")[\x21-\x7e]{1,255}$/;
/** In double quotes, where `\` escapes a quote or itself (RFC 9651 section 3.3.3, String). */
const QUOTED = /^"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"$/;

/**
 * Reads the field value of `Idempotency-Key`; the same key may be sent quoted or bare.
 * @throws IdempotencyKeyError `invalid_idempotency_key`
 */
export function parseIdempotencyKey(value: string): string {
  if (BARE.test(value)) {
    return value;
  }
  const quoted = QUOTED.exec(value)?.[1];
  if (quoted === undefined) {
    throw new IdempotencyKeyError('invalid_idempotency_key');
  }
  return quoted.replace(/\\(.)/g, '$1');
}
