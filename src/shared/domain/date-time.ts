const DATE_TIME_PATTERN =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
/** The earliest and the latest time that can be stored, in ms since the epoch. */
export const MIN_TIME = Date.UTC(1970, 0, 1);
export const MAX_TIME = Date.UTC(10_000, 0, 1) - 1;

/**
 * Parses an RFC 3339 date-time with an upper-case T and Z and at most 9 fractional digits, such as 2027-01-31T18:00:00Z, to the
 * millisecond; undefined for anything else.
 */
export function parseDateTime(text: string): Date | undefined {
  const [, year, month, day] = DATE_TIME_PATTERN.exec(text) ?? [];
  if (year === undefined) {
    return undefined;
  }
  // `Date` would accept 31 April as 1 May.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) ? new Date(text) : undefined;
}

/**
 * Validates a date-time that can be stored.
 * @returns what is wrong with the value, as a phrase that follows the field name; undefined if it is valid
 */
export function validateDateTime(value: unknown): string | undefined {
  return value instanceof Date && value.getTime() >= MIN_TIME && value.getTime() <= MAX_TIME
    ? undefined
    : 'must be a date-time with a time zone, such as 2026-12-24T09:00:00Z, from 1970 to 9999';
}
