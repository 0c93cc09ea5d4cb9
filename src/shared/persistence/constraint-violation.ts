import { getErrorCode } from '../domain/error-message';

/** PostgreSQL's names for these SQLSTATEs. */
const VIOLATIONS: Readonly<Record<string, string>> = {
  23503: 'foreign_key_violation',
  23505: 'unique_violation',
  23514: 'check_violation',
  '23P01': 'exclusion_violation',
};

/**
 * Runs a query and converts the violation of a constraint into an error of the module that owns the constraint.
 * @param errors the errors to throw, by constraint name or by condition, such as `foreign_key_violation` for rows that any
 * module may reference. The violation of any other constraint is a bug and is rethrown.
 */
export async function convertViolation<T>(
  query: () => Promise<T>,
  errors: Readonly<Record<string, () => Error>>,
): Promise<T> {
  try {
    return await query();
  } catch (error) {
    const condition = VIOLATIONS[getErrorCode(error) ?? ''];
    const { constraint = '' } = error as { readonly constraint?: string };
    const known =
      condition === undefined ? undefined : [constraint, condition].find((name) => Object.hasOwn(errors, name));
    throw known === undefined ? error : errors[known]?.();
  }
}
