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
 * The value of a JSON number, which depends only on its own text: an integer (`5.0` and `5e0` are 5) is a number if it is
 * safe and otherwise an exact bigint; a decimal is a number. An integer of more than 40 digits is also a number, so that
 * `1e999999999` is not expanded. A decimal that a double can only round to an integer is NaN, so that it is not accepted as
 * an integer.
 */
export function exactJsonNumber(text: string): bigint | number {
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
    return Number.isInteger(rounded) ? NaN : rounded;
  }
  return Number.isSafeInteger(rounded) ? rounded : BigInt(`${sign}${significant}${'0'.repeat(scale)}`);
}

/** Linear time. A regular expression would backtrack at each zero: seconds for one long number. */
function countTrailingZeros(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') {
    end--;
  }
  return digits.length - end;
}
