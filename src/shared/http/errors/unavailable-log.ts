import { Logger } from '@nestjs/common';
import { errorMessage } from '../../domain/error-message';

const INTERVAL_MS = 1_000;

/** Logs the reason of 503 responses, at most once a second for each reason, with the number of suppressed log lines. */
export class UnavailableLog {
  private readonly logger = new Logger('ErrorFilter');
  /** For each reason logged in the last second, how many further requests failed for it. */
  private readonly unlogged = new Map<string, number>();

  record(cause: unknown, requestId: string): void {
    const reason = errorMessage(cause);
    const unlogged = this.unlogged.get(reason);
    if (unlogged !== undefined) {
      this.unlogged.set(reason, unlogged + 1);
      return;
    }
    this.unlogged.set(reason, 0);
    this.logger.warn(
      { event: 'service_unavailable', id: requestId, reason, code: getErrorCode(cause) },
      `A request got 503 (${reason}).`,
    );
    const timer = setInterval(() => {
      const more = this.unlogged.get(reason) ?? 0;
      if (more === 0) {
        clearInterval(timer);
        this.unlogged.delete(reason);
        return;
      }
      this.unlogged.set(reason, 0);
      this.logger.warn(
        { event: 'service_unavailable', reason, unlogged: more },
        `Further 503 responses within a second: ${more} (${reason}).`,
      );
    }, INTERVAL_MS).unref();
  }
}

function getErrorCode(cause: unknown): string | undefined {
  return (cause as { readonly code?: string } | undefined)?.code;
}
