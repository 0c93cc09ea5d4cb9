import { Logger } from '@nestjs/common';
import { logEvent } from './log-events';

/** Enough to name what is affected, even if very much is. */
const MAX_LINES = 1_000;

const logger = new Logger('UnknownValues');
const logged = new Set<string>();

/**
 * Logs once that the database has a value that this version of the service does not know, such as one that a newer version added.
 * @param what names the value, and whose it is
 * @param effect what follows for the owner of the value
 */
export function reportUnknownValue(
  fields: Readonly<Record<string, string | bigint>>,
  what: string,
  effect: string,
): void {
  const message = `This version does not know ${what}: ${effect}.`;
  if (!logged.has(message) && logged.size < MAX_LINES) {
    logged.add(message);
    logEvent(logger, 'unknown_value', message, fields);
  }
}

/** Whether this version knows the status of a record. Otherwise, the status is reported. */
export function hasKnownStatus(
  statuses: readonly string[],
  kind: string,
  { id, status }: { readonly id: bigint; readonly status: string },
): boolean {
  const isKnown = statuses.includes(status);
  if (!isKnown) {
    const record = `${kind} ${id}`;
    reportUnknownValue(
      { status, record },
      `the status ${JSON.stringify(status)} of ${record}`,
      'lists do not contain it, and requests for it get 503',
    );
  }
  return isKnown;
}
