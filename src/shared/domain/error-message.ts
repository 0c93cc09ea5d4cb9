/**
 * Returns the reason of an error for a log line. The error for several unreachable IP addresses has a code but no message.
 */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error
    ? error.message || ((error as Error & { readonly code?: string }).code ?? error.name)
    : String(error);
}
