import { ValidateBy } from 'class-validator';

/**
 * Applies a domain rule to a field. The rule returns what is wrong with a value, as a phrase that follows the field name, or undefined if
 * it is valid.
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
