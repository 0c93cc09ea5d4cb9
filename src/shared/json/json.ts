import { parse, stringify } from 'lossless-json';
import { parseJsonNumber } from '../domain/int64';

/** Matches a number that a double may not hold exactly: 16 or more digits, or an exponent. Also matches inside strings. */
const MAY_LOSE_DIGITS = /[\d.]{16}|\d[eE]/;

/** The maximum nesting of arrays and objects. Both parsers must agree on it, and one of them is recursive. */
export const MAX_JSON_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The JSON nests arrays and objects deeper than `MAX_JSON_DEPTH`. */
export class JsonDepthError extends Error {}

/**
 * Parses JSON with exact integers: a safe integer becomes a number, any other integer a bigint.
 * @throws SyntaxError, JsonDepthError
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) {
    throw new JsonDepthError();
  }
  const value: unknown = JSON.parse(text);
  if (!MAY_LOSE_DIGITS.test(text)) {
    return value;
  }
  // As in JSON.parse, the last of two equal names wins.
  return parse(text, undefined, { parseNumber: parseJsonNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** Checks the brackets and braces of the text, except those in strings. */
function isTooDeep(text: string): boolean {
  let open = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (isInString) {
      if (character === BACKSLASH) {
        index++;
      } else if (character === QUOTE) {
        isInString = false;
      }
    } else if (character === QUOTE) {
      isInString = true;
    } else if (character === OPENING_BRACKET || character === OPENING_BRACE) {
      open++;
      if (open > MAX_JSON_DEPTH) {
        return true;
      }
    } else if (character === CLOSING_BRACKET || character === CLOSING_BRACE) {
      open--;
    }
  }
  return false;
}

/** Text that is already JSON. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Serializes to JSON with a bigint as its digits. */
export function stringifyJson(value: unknown, space?: number): string {
  return value instanceof JsonText ? value.text : (stringify(value, undefined, space) ?? 'null');
}
