import { Logger } from '@nestjs/common';
import { getErrorCode, getErrorMessage } from '../../domain/error-message';
import { logEvent } from '../../log-events';

const LOG_INTERVAL_MS = 1_000;

/**
 * Logs the reason of 503 responses, and of other 5xx of modules, at most once a second for each reason, with the number of suppressed log
 * lines.
 */
export class ServiceUnavailableLogger {
  private readonly logger = new Logger('ErrorFilter');
  /** For each reason logged in the last second, how many further requests failed for it. */
  private readonly suppressed = new Map<string, number>();

  record(cause: unknown, requestId: string, status = 503): void {
    const reason = getErrorMessage(cause);
    const suppressed = this.suppressed.get(reason);
    if (suppressed !== undefined) {
      this.suppressed.set(reason, suppressed + 1);
      return;
    }
    this.suppressed.set(reason, 0);
    const fields = { id: requestId, reason, code: getErrorCode(cause) };
    logEvent(this.logger, 'service_unavailable', `Returned ${status} (${reason}).`, fields);
    const timer = setInterval(() => {
      const suppressedCount = this.suppressed.get(reason) ?? 0;
      if (suppressedCount === 0) {
        clearInterval(timer);
        this.suppressed.delete(reason);
        return;
      }
      this.suppressed.set(reason, 0);
      const message = `Returned ${status} to ${suppressedCount} more requests within a second (${reason}).`;
      logEvent(this.logger, 'service_unavailable', message, { reason, suppressed: suppressedCount });
    }, LOG_INTERVAL_MS).unref();
  }
}
