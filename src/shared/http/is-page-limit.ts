import { Matches } from 'class-validator';

/** The number of records on a page, as a query parameter: 1 to 100 in decimal digits (interface, Page size). */
export function IsPageLimit(): PropertyDecorator {
  return Matches(/^([1-9]\d?|100)$/, {
    message: '$property must be an integer from 1 to 100 in decimal digits, given once',
  });
}
