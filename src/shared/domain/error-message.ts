/**
 * The reason of an error in a few words, for a log line. An error that aggregates several addresses has a code and no
 * message.
 */
export function errorMessage(error: unknown): string {
  return error instanceof Error
    ? error.message || ((error as Error & { readonly code?: string }).code ?? error.name)
    : String(error);
}
