import type { FastifyRequest } from 'fastify';

const MAX_TEXT_LENGTH = 100;

/**
 * Adds fields to the log line of a request, such as the ID of the resource; long text is truncated. Never pass a secret, or
 * text that a client sent.
 */
export function addLogFields(
  request: FastifyRequest,
  fields: Readonly<Record<string, string | number | bigint | boolean>>,
): void {
  const entries = Object.entries(fields).map(([name, value]) => [name, toJsonValue(value)]);
  request.logFields = { ...request.logFields, ...(Object.fromEntries(entries) as object) };
}

/** JSON has no bigint, and its readers round beyond 2^53. */
function toJsonValue(value: string | number | bigint | boolean): string | number | boolean {
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  }
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_LENGTH) : value;
}
