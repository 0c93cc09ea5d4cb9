import { parse, stringify } from 'lossless-json';
import { exactJsonNumber } from '../domain/int64';

/** A number that a double may not hold exactly: 16 or more digits, or an exponent. Also matches inside strings. */
const MAY_LOSE_DIGITS = /[\d.]{16}|\d[eE]/;

/** Reads JSON with every integer exact: those beyond 2^53 come as bigint. @throws SyntaxError */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!MAY_LOSE_DIGITS.test(text)) {
    return value;
  }
  // As in JSON.parse, the last of two equal names wins.
  return parse(text, undefined, { parseNumber: exactJsonNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** JSON that is written already. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Writes JSON with a bigint as its digits. */
export function stringifyJson(value: unknown, space?: number): string {
  return value instanceof JsonText ? value.text : (stringify(value, undefined, space) ?? 'null');
}
