import fc from 'fast-check';
import { checkJsonLimits, JsonLimitError, MAX_JSON_DEPTH, MAX_JSON_FIELDS, parseJson, stringifyJson } from './json';

/** Parses the JSON of a client. */
function parseLimited(text: string): unknown {
  checkJsonLimits(text);
  return parseJson(text);
}

/** Generates JSON numbers as text: with few or many digits, with and without a fraction or an exponent. */
const digits = fc.stringMatching(/^\d{1,25}$/);
const jsonNumber = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.stringMatching(/^(0|[1-9]\d{0,24})$/),
    fc.option(digits, { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.nat(60)), { nil: undefined }),
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
  );
/** Text that makes the service parse all numbers of a body digit by digit. */
const UNRELATED = ['Room 2e', '1234567890123456', '1.5E3'];

describe('JSON', () => {
  it('has numbers whose value does not depend on the text around them', () => {
    fc.assert(
      fc.property(jsonNumber, (number) => {
        const [alone] = parseJson(`[${number}]`) as [unknown];
        for (const text of UNRELATED) {
          expect(parseJson(`{"note":"${text}","n":${number}}`)).toEqual({ note: text, n: alone });
        }
      }),
    );
  });

  it.each(['', ',"2e"'])(
    'is parsed like JSON.parse by either parser, except for digits that a double cannot hold (%j)',
    (more) => {
      fc.assert(
        fc.property(fc.json({ noUnicodeString: false, maxDepth: 10 }), (text) => {
          const asDoubles = (value: unknown): unknown =>
            typeof value === 'bigint'
              ? Number(value)
              : Array.isArray(value)
                ? value.map(asDoubles)
                : typeof value === 'object' && value !== null
                  ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, asDoubles(field)]))
                  : value;
          const [value] = parseJson(`[${text}${more}]`) as [unknown];
          expect(asDoubles(value)).toEqual(JSON.parse(text));
        }),
      );
    },
  );

  it.each(['', '"2e",'])('can be nested 64 levels deep, with either parser (%j)', (firstElement) => {
    const arrays = (levels: number) => `[${firstElement}${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}]`;
    const objects = (levels: number) => `{"a":`.repeat(levels - 1) + `{"text":"2e"}` + '}'.repeat(levels - 1);
    for (const nested of [arrays, objects]) {
      expect(() => parseLimited(nested(MAX_JSON_DEPTH))).not.toThrow();
      expect(() => parseLimited(nested(MAX_JSON_DEPTH + 1))).toThrow(JsonLimitError);
    }
    expect(() => parseLimited(arrays(7_000))).toThrow(JsonLimitError);
  });

  it('does not count brackets in strings or adjacent arrays as levels', () => {
    const text = JSON.stringify({ name: `\\"${'[{'.repeat(100)}"`, list: Array<unknown>(100).fill([{}]) });
    expect(parseLimited(text)).toEqual(JSON.parse(text));
  });

  it.each(['', '"2e":0,'])('can have 1000 fields in an object, with either parser (%j)', (firstField) => {
    const object = (count: number) =>
      `{${firstField}${Array.from({ length: count }, (_, n) => `"${n}":{"a":":"}`).join()}}`;
    const own = MAX_JSON_FIELDS - (firstField === '' ? 0 : 1);
    expect(() => parseLimited(`[${object(own)},${object(own)}]`)).not.toThrow();
    expect(() => parseLimited(`[${object(1)},${object(own + 1)}]`)).toThrow(JsonLimitError);
  });

  it('preserves a bigint when written and parsed again', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }), (value) => {
        expect(parseJson(stringifyJson({ value, text: `${value}` }))).toEqual({ value, text: `${value}` });
      }),
    );
  });

  it('uses the last of two equal names with either parser', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 });
    expect(parseJson('{"a":1,"a":9223372036854775807}')).toEqual({ a: 9223372036854775807n });
  });

  it('cannot change a prototype', () => {
    for (const text of ['{"__proto__":{"polluted":1}}', '{"__proto__":{"polluted":9223372036854775807}}']) {
      parseJson(text);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    }
  });
});
