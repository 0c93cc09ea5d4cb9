import { INT64_FIELDS } from './openapi.js';
import { PetStoreError } from './pet-store-error.js';

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * Parses JSON, with exact `bigint` values in the int64 fields of the schema. `JSON.stringify` accepts the result.
 * @throws SyntaxError
 */
export function parseJson(text: string, schema: string | null): unknown {
  const value: unknown = JSON.parse(text);
  // JSON.parse rounds numbers, so a copy has their digits as strings.
  const digits = text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`));
  return convertInt64(value, JSON.parse(digits), schema);
}

/** Leaves unknown fields unchanged. @param digits the same value, with strings instead of numbers */
function convertInt64(value: unknown, digits: unknown, schema: string | null): unknown {
  if (Array.isArray(value)) {
    return value.map((element, index) => convertInt64(element, (digits as unknown[])[index], schema));
  }
  if (schema === null || value === null) {
    return value;
  }
  if (schema === 'int64') {
    if (typeof value !== 'number') {
      throw new SyntaxError(`${JSON.stringify(value)} is not an integer`);
    }
    return BigInt(digits as string);
  }
  if (typeof value !== 'object') {
    return value;
  }
  for (const [name, field] of Object.entries(INT64_FIELDS[schema] ?? {})) {
    if (Object.hasOwn(value, name)) {
      const fields = value as Record<string, unknown>;
      fields[name] = convertInt64(fields[name], (digits as Record<string, unknown>)[name], field);
    }
  }
  return Object.defineProperty(value, 'toJSON', { value: convertBigints });
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
