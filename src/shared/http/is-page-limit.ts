import { Satisfies } from './satisfies';

/** The number of records on a page, as a query parameter: 1 to 100 in decimal digits (interface, Page size). */
export function IsPageLimit(): PropertyDecorator {
  return Satisfies((value) =>
    typeof value === 'string' && /^([1-9]\d?|100)$/.test(value)
      ? undefined
      : 'must be an integer from 1 to 100 in decimal digits, given once',
  );
}
