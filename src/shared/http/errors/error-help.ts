import { Injectable } from '@nestjs/common';
import { getDocsUrl, Settings } from '../../../config/settings';
import type { ErrorCode } from '../../domain/error-codes';
import { joinLinks } from '../routing/links';

/** The `Retry-After` of a 503, and of a 429 of a module, in seconds, unless it has one. */
const DEFAULT_RETRY_SECONDS = 1;
const CODES_WITH_RETRY: readonly ErrorCode[] = ['service_unavailable', 'too_many_requests'];

type CurrentHeaders = Readonly<Record<string, string | number | string[] | undefined>>;

/** Says in the headers of an error response when to retry, and links it to the documentation of its code (RFC 8288, `rel="help"`). */
@Injectable()
export class ErrorHelp {
  private readonly page: string | undefined;

  constructor(settings: Settings) {
    const docs = getDocsUrl(settings);
    this.page = docs && `${docs}/errors`;
  }

  /** @param current the headers of the response, of which `Link` and `Retry-After` are kept */
  createHeaders(code: ErrorCode, current: CurrentHeaders = {}): Readonly<Record<string, string>> {
    const retry: Readonly<Record<string, string>> =
      CODES_WITH_RETRY.includes(code) && current['retry-after'] === undefined
        ? { 'retry-after': `${DEFAULT_RETRY_SECONDS}` }
        : {};
    if (this.page === undefined) {
      return retry;
    }
    const help = `<${this.page}#${code}>; rel="help"; type="text/html"`;
    return { ...retry, link: joinLinks(current.link, help) };
  }
}
