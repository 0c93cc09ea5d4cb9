import { isInt64 } from '../domain/int64';
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
