/** Returns the code of an error: the SQLSTATE of a failed statement, or the code of a network, TLS or file system error. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as Error & { readonly code?: string }).code : undefined;
}

/**
 * Returns the reason of an error for a log line. The error for several unreachable IP addresses has a code but no message.
 */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message || (getErrorCode(error) ?? error.name) : String(error);
}

/** Joins messages to a sentence. */
export function joinMessages(messages: readonly unknown[]): string {
  return `${messages.join('; ').replace(/\.$/, '')}.`;
}
