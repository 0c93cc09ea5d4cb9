import { Injectable } from '@nestjs/common';
import { getDocsUrl, Settings } from '../../../config/settings';
import type { ErrorCode } from '../../domain/error-codes';

/** The `Retry-After` of a 503, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 1;

/** Says in the headers of an error response when to retry, and links it to the documentation of its code (RFC 8288, `rel="help"`). */
@Injectable()
export class ErrorHelp {
  private readonly page: string | undefined;

  constructor(settings: Settings) {
    const docs = getDocsUrl(settings);
    this.page = docs && `${docs}/errors`;
  }

  /** @param links the current value of `Link`, which is kept */
  createHeaders(code: ErrorCode, links?: string): Readonly<Record<string, string>> {
    const retry: Readonly<Record<string, string>> =
      code === 'service_unavailable' ? { 'retry-after': `${UNAVAILABLE_RETRY_SECONDS}` } : {};
    if (this.page === undefined) {
      return retry;
    }
    const help = `<${this.page}#${code}>; rel="help"; type="text/html"`;
    return { ...retry, link: links === undefined ? help : `${links}, ${help}` };
  }
}
