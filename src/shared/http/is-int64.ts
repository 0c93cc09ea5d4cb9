import { isInt64, parsePositiveInt64 } from '../domain/int64';
import { Satisfies } from './satisfies';

/** A field of a JSON body that holds an int64. */
export function IsInt64Body(): PropertyDecorator {
  return Satisfies((value) =>
    isInt64(value) ? undefined : 'must be an integer from -9223372036854775808 to 9223372036854775807',
  );
}

/** The bigint of a JSON integer; any other value unchanged, for the validator to refuse. */
export function toInt64(value: unknown): bigint {
  return (Number.isInteger(value) ? BigInt(value as number) : value) as bigint;
}

/** A query parameter that holds a positive int64. */
export function IsPositiveInt64Query(): PropertyDecorator {
  return Satisfies((value) =>
    isInt64(value)
      ? undefined
      : 'must be a positive integer of at most 9223372036854775807 in decimal digits, given once',
  );
}

/** The bigint of a query parameter in canonical form; any other value unchanged, for the validator to refuse. */
export function toPositiveInt64(value: unknown): bigint {
  return ((typeof value === 'string' ? parsePositiveInt64(value) : undefined) ?? value) as bigint;
}
