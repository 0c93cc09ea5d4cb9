import fc from 'fast-check';
import { parseDateTime } from './date-time';

describe('A date-time', () => {
  it('is parsed in any time zone', () => {
    const dates = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => {
        expect(parseDateTime(date.toISOString())).toEqual(date);
      }),
    );
    expect(parseDateTime('2027-01-31T18:00:00+02:00')).toEqual(new Date('2027-01-31T16:00:00Z'));
    expect(parseDateTime('2028-02-29T00:00:00.5Z')).toEqual(new Date('2028-02-29T00:00:00.500Z'));
  });

  it.each([
    '',
    '2027-01-31',
    '2027-01-31T18:00:00',
    '2027-01-31 18:00:00Z',
    '2027-02-29T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-00-01T00:00:00Z',
    '2027-01-32T00:00:00Z',
    '2027-01-31T24:00:00Z',
    '2027-01-31T18:60:00Z',
    '27-01-31T18:00:00Z',
    '+002027-01-31T18:00:00Z',
    ' 2027-01-31T18:00:00Z',
    'tomorrow',
  ])('is not %j', (text) => {
    expect(parseDateTime(text)).toBeUndefined();
  });
});
