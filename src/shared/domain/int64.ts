export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** Whether the value is an integer of the int64 range, -9223372036854775808 to 9223372036854775807. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

/** The positive int64 written in canonical decimal form (`7`, never `07`, `+7` or `7.0`); undefined for anything else. */
export function parsePositiveInt64(text: string): bigint | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(text)) {
    return undefined;
  }
  const value = BigInt(text);
  return value <= INT64_MAX ? value : undefined;
}

/**
 * The value of a JSON number that is an integer, exactly (`5.0` and `5e0` are 5). Any other, and one of more than 40
 * digits, is NaN: rounded it could pass for an integer, and `1e999999999` must not be written out.
 */
export function exactJsonNumber(text: string): bigint | number {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') {
    return 0n;
  }
  const scale = Number(exponent) - fraction.length + (digits.length - significant.length);
  if (scale < 0 || significant.length + scale > 40) {
    return NaN;
  }
  return BigInt(`${sign ?? ''}${significant}${'0'.repeat(scale)}`);
}
