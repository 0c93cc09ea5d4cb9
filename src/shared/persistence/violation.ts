import { sqlState } from './postgres-client';

/** A foreign key, unique, check or exclusion constraint. */
const VIOLATION = /^23(503|505|514|P01)$/;

/**
 * Runs a query; the violation of a constraint becomes an error of the module that owns it.
 * @param errors what to throw, by the name of the constraint; the violation of another is a mistake in the code
 */
export async function onViolation<T>(
  query: () => Promise<T>,
  errors: Readonly<Record<string, () => Error>>,
): Promise<T> {
  try {
    return await query();
  } catch (error) {
    const constraint = violatedConstraint(error);
    throw constraint !== undefined && Object.hasOwn(errors, constraint) ? errors[constraint]?.() : error;
  }
}

function violatedConstraint(error: unknown): string | undefined {
  return VIOLATION.test(sqlState(error) ?? '') ? (error as { readonly constraint?: string }).constraint : undefined;
}
