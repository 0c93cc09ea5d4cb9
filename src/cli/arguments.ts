import { InvalidArgumentError } from 'commander';
import { MAX_REQUEST_LIMIT } from '../shared/domain/allowance';
import { parseDateTime, validateDateTime } from '../shared/domain/date-time';
import { parsePositiveInt64 } from '../shared/domain/int64';

export const MAX_AUDIT_ENTRIES = 10_000;

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function parseId(text: string): bigint {
  const id = parsePositiveInt64(text);
  if (id === undefined) {
    throw new InvalidArgumentError('It must be a positive whole number.');
  }
  return id;
}

export const parseRequestLimit = (text: string) => parseCount(text, MAX_REQUEST_LIMIT);
export const parseEntryCount = (text: string) => parseCount(text, MAX_AUDIT_ENTRIES);

function parseCount(text: string, max: number): number {
  const count = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > max) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  }
  return count;
}

/** Parses a time. A date without a time is 00:00 UTC. */
export function parseTime(text: string): Date {
  const time = parseDateTime(/^[\d-]{10}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (time === undefined || validateDateTime(time) !== undefined) {
    throw new InvalidArgumentError(
      'It must be a date from 1970 to 9999, such as 2027-01-31 (00:00 UTC), or a time with a time zone, such as 2027-01-31T18:00:00Z.',
    );
  }
  return time;
}

/** @returns milliseconds */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (text !== '0' && digits === undefined) {
    throw new InvalidArgumentError('It must be 0, or a whole number with a unit: s, m, h or d, such as 30m or 24h.');
  }
  return Number(digits ?? 0) * UNIT_MS[(unit ?? 's') as keyof typeof UNIT_MS];
}
