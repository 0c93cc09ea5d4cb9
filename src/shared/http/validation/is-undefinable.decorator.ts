import { ValidateIf } from 'class-validator';

/** Lets a field be absent but not null; class-validator's `@IsOptional()` allows both. */
export function IsUndefinable(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}
