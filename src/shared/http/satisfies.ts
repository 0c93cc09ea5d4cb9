import { ValidateBy } from './validation';

/**
 * Applies a rule of the domain to a field of a request. The rule says what is wrong with a value, in words that follow
 * the field's name, or undefined for a good one.
 */
export function Satisfies(problem: (value: unknown) => string | undefined): PropertyDecorator {
  return ValidateBy({
    name: 'satisfies',
    validator: {
      validate: (value) => problem(value) === undefined,
      defaultMessage: (args) => `$property ${args?.value === undefined ? 'is required' : (problem(args.value) ?? '')}`,
    },
  });
}
