import { ValidateBy, type ValidationOptions } from 'class-validator';

type Rule = (value: unknown) => string | undefined;

/**
 * Applies a domain rule to a field, or with `each` to the items of an array. The rule returns what is wrong with a value, as a phrase that
 * follows the field name, or undefined if it is valid.
 */
export function ValidateWith(rule: Rule, options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'validateWith',
      validator: {
        // class-validator passes a value that is no array as if it were an item.
        validate: (item, args) => rule(item) === undefined && (options?.each !== true || Array.isArray(args?.value)),
        defaultMessage: (args) => `$property${explain(rule, args?.value, options)}`,
      },
    },
    options,
  );
}

function explain(rule: Rule, value: unknown, { each = false }: ValidationOptions = {}): string {
  if (value === undefined) {
    return ' is required';
  }
  if (!each) {
    return ` ${rule(value) ?? ''}`;
  }
  if (!Array.isArray(value)) {
    return ' must be an array';
  }
  const wrong = value.findIndex((item) => rule(item) !== undefined);
  return `[${wrong}] ${rule(value[wrong]) ?? ''}`;
}
