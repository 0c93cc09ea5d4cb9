/** Why something failed, in a few words for a log line. An error of several addresses has a code and no message. */
export function errorMessage(error: unknown): string {
  return error instanceof Error
    ? error.message || ((error as Error & { readonly code?: string }).code ?? error.name)
    : String(error);
}
