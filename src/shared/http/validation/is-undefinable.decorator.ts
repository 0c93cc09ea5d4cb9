import { ValidateIf } from 'class-validator';

/** A field that may be left out, but not be null, which `@IsOptional()` of class-validator lets pass. */
export function IsUndefinable(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}
