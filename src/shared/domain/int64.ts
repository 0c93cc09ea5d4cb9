const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** Whether the value is an integer of the int64 range, -9223372036854775808 to 9223372036854775807. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= MIN && value <= MAX;
}

/** The positive int64 written in canonical decimal form (`7`, never `07`, `+7` or `7.0`); undefined for anything else. */
export function parsePositiveInt64(text: string): bigint | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(text)) {
    return undefined;
  }
  const value = BigInt(text);
  return value <= MAX ? value : undefined;
}

/**
 * The value of a JSON number, exactly: a bigint when it is an integer (`5.0` and `5e0` are 5), otherwise a number.
 * Integers of more than 40 digits come back as the nearest number, so that `1e999999999` allocates nothing.
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
    return Number(text);
  }
  return BigInt(`${sign ?? ''}${significant}${'0'.repeat(scale)}`);
}
