import { PetStoreError } from './pet-store-error.js';

/** A string, which is the name of a field if a colon follows, and the integer after it. */
const STRING_AND_INTEGER = /("[^"\\]*(?:\\.[^"\\]*)*")(?:(\s*:\s*)(-?(?:0|[1-9]\d*))(?=\s*[,}]))?/g;

/**
 * Parses JSON, with exact `bigint` values in the int64 fields. `JSON.stringify` accepts the result.
 * @throws SyntaxError
 */
export function parseJson(text: string, int64: readonly string[]): unknown {
  // JSON.parse would round the digits, so it reads them as a string.
  const quoted = text.replace(STRING_AND_INTEGER, (match, name: string, colon: string, digits?: string) =>
    digits !== undefined && int64.includes(JSON.parse(name) as string) ? `${name}${colon}"#${digits}"` : match,
  );
  return JSON.parse(quoted, (name, value: unknown) => {
    if (int64.includes(name) && value !== null) {
      if (typeof value !== 'string' || !value.startsWith('#')) {
        throw new SyntaxError(`${name} is not an integer`);
      }
      return BigInt(value.slice(1));
    }
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.defineProperty(value, 'toJSON', { value: convertBigints })
      : value;
  });
}

/** The `toJSON` method of parsed objects. */
function convertBigints(this: object): object {
  const { rawJSON = String } = JSON as { rawJSON?: (digits: string) => unknown };
  const convert = (value: unknown) => {
    if (typeof value !== 'bigint') {
      return value;
    }
    return Number.isSafeInteger(Number(value)) ? Number(value) : rawJSON(String(value));
  };
  return Object.fromEntries(Object.entries(this).map(([name, value]) => [name, convert(value)]));
}

/**
 * Writes JSON like `JSON.stringify`, and a `bigint` as an integer with all its digits.
 * @throws PetStoreError for a number that is not exact
 */
export function stringify(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    return typeof value === 'bigint' ? String(value) : JSON.stringify(requireExact(value));
  }
  if (Array.isArray(value)) {
    return `[${value.map((element) => stringify(element) ?? 'null').join(',')}]`;
  }
  const fields = Object.entries(value).map(([name, field]) => [JSON.stringify(name), stringify(field)]);
  return `{${fields
    .filter(([, field]) => field !== undefined)
    .map((field) => field.join(':'))
    .join(',')}}`;
}

/** @throws PetStoreError for a number beyond 2^53, whose digits may have been rounded, and for NaN */
export function requireExact(value: unknown): unknown {
  if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new PetStoreError('invalid_input', `${value} is not an exact number: pass integers beyond 2^53 as a bigint.`);
  }
  return value;
}
