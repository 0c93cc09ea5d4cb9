import { ValidateBy } from 'class-validator';

/**
 * Applies a rule of the domain to a field. The rule says what is wrong with a value, in words that follow the field's
 * name, and returns undefined for a valid one.
 */
export function ValidateWith(rule: (value: unknown) => string | undefined): PropertyDecorator {
  return ValidateBy({
    name: 'validateWith',
    validator: {
      validate: (value) => rule(value) === undefined,
      defaultMessage: (args) => `$property ${args?.value === undefined ? 'is required' : (rule(args.value) ?? '')}`,
    },
  });
}
