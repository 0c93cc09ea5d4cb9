export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;
const MAX_EXACT_DIGITS = 40;

/** Whether the value is a bigint in the int64 range, -9223372036854775808 to 9223372036854775807. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

/** Parses a positive int64 in canonical decimal form (`7`, never `07`, `+7` or `7.0`); undefined for anything else. */
export function parsePositiveInt64(text: string): bigint | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(text)) {
    return undefined;
  }
  const value = BigInt(text);
  return value <= INT64_MAX ? value : undefined;
}

/**
 * Parses a JSON number. An integer (`5.0` and `5e0` are 5) becomes a number if it is safe, and otherwise an exact bigint. A decimal
 * becomes a number. Two exceptions: an integer of more than 40 digits becomes a number, so that `1e999999999` is not expanded; and a
 * decimal that a double would round to an integer becomes the next double, or NaN if that is an integer too, so that it is not accepted as
 * an integer.
 */
export function parseJsonNumber(text: string): bigint | number {
  const rounded = Number(text);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.slice(0, digits.length - countTrailingZeros(digits));
  const scale = Number(exponent) - fraction.length + (digits.length - significant.length);
  if (significant === '' || significant.length + scale > MAX_EXACT_DIGITS) {
    return rounded;
  }
  if (scale < 0) {
    const next = rounded === 0 ? Number(`${sign}${Number.MIN_VALUE}`) : rounded * (1 + Number.EPSILON);
    const decimal = Number.isInteger(rounded) ? next : rounded;
    return Number.isInteger(decimal) ? NaN : decimal;
  }
  return Number.isSafeInteger(rounded) ? rounded : BigInt(`${sign}${significant}${'0'.repeat(scale)}`);
}

/** Runs in linear time. A regular expression would backtrack at each zero, which takes seconds for a long number. */
function countTrailingZeros(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') {
    end--;
  }
  return digits.length - end;
}
