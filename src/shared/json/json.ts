import { parse, stringify } from 'lossless-json';
import { parseJsonNumber } from '../domain/int64';

/** Matches a number that a double may not hold exactly: 16 or more digits, or an exponent. Also matches inside strings. */
const MAY_LOSE_DIGITS = /[\d.]{16}|\d[eE]/;

/** The maximum nesting of arrays and objects. Both parsers must agree on it, and one of them is recursive. */
export const MAX_JSON_DEPTH = 64;
/** The maximum number of fields of one object. The time of class-transformer grows with the square of their number. */
export const MAX_JSON_FIELDS = 1_000;

/** A string, even if its end is missing. */
const STRING = /"(?:[^"\\]|\\.)*"?/gs;

/** The JSON exceeds a limit. The message follows its name, such as "The body". */
export class JsonLimitError extends Error {}

/**
 * Parses JSON with exact integers: a safe integer becomes a number, any other integer a bigint.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!MAY_LOSE_DIGITS.test(text)) {
    return value;
  }
  // As in JSON.parse, the last of two equal names wins.
  return parse(text, undefined, { parseNumber: parseJsonNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/**
 * Checks the brackets, braces and colons of a client's JSON, except those in strings.
 * @throws JsonLimitError
 */
export function checkJsonLimits(text: string): void {
  /** The number of fields of each array or object that is open. */
  const open: number[] = [];
  for (const character of text.replace(STRING, '')) {
    if (character === '[' || character === '{') {
      if (open.push(0) > MAX_JSON_DEPTH) {
        throw new JsonLimitError(`must not nest arrays and objects more than ${MAX_JSON_DEPTH} levels deep`);
      }
    } else if (character === ']' || character === '}') {
      open.pop();
    } else if (character === ':') {
      const fields = (open.pop() ?? 0) + 1;
      if (fields > MAX_JSON_FIELDS) {
        throw new JsonLimitError(`must not contain an object with more than ${MAX_JSON_FIELDS} fields`);
      }
      open.push(fields);
    }
  }
}

/** Serializes to JSON with a bigint as its digits. */
export function stringifyJson(value: unknown, space?: number): string {
  return stringify(value, undefined, space) ?? 'null';
}
