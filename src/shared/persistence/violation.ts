import { sqlState } from './postgres-client';

/** PostgreSQL's names of the conditions. */
const VIOLATIONS: Readonly<Record<string, string>> = {
  23503: 'foreign_key_violation',
  23505: 'unique_violation',
  23514: 'check_violation',
  '23P01': 'exclusion_violation',
};

/**
 * Runs a query; the violation of a constraint becomes an error of the module that owns it.
 * @param errors what to throw, by the name of the constraint, or else by the condition, such as `foreign_key_violation` for rows that any
 * module refers to; the violation of another is a mistake in the code
 */
export async function onViolation<T>(
  query: () => Promise<T>,
  errors: Readonly<Record<string, () => Error>>,
): Promise<T> {
  try {
    return await query();
  } catch (error) {
    const condition = VIOLATIONS[sqlState(error) ?? ''];
    const { constraint = '' } = error as { readonly constraint?: string };
    const known =
      condition === undefined ? undefined : [constraint, condition].find((name) => Object.hasOwn(errors, name));
    throw known === undefined ? error : errors[known]?.();
  }
}
