import fc from 'fast-check';
import { parseJson, stringifyJson } from './json';

describe('JSON', () => {
  it('is read as JSON.parse reads it, where no digit is at risk', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        fc.pre(!/[\d.]{16}|\d[eE]/.test(text));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps a bigint through writing and reading', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 10n ** 15n, max: 2n ** 63n - 1n }), (value) => {
        expect(parseJson(stringifyJson({ value, text: `${value}` }))).toEqual({ value, text: `${value}` });
      }),
    );
  });

  it('takes the last of two equal names, on the exact path too', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 });
    expect(parseJson('{"a":1,"a":9223372036854775807}')).toEqual({ a: 9223372036854775807n });
  });

  it('cannot reach a prototype', () => {
    for (const text of ['{"__proto__":{"polluted":1}}', '{"__proto__":{"polluted":9223372036854775807}}']) {
      parseJson(text);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    }
  });
});
