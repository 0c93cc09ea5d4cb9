import { Injectable } from '@nestjs/common';
import { getDocsUrl, Settings } from '../../../config/settings';
import type { ErrorCode } from '../../domain/error-codes';

/** Links an error response to the documentation of its code (RFC 8288, `rel="help"`), while the documentation is served. */
@Injectable()
export class ErrorHelp {
  private readonly page: string | undefined;

  constructor(settings: Settings) {
    const docs = getDocsUrl(settings);
    this.page = docs && `${docs}/errors`;
  }

  /** @param links the current value of `Link`, which is kept */
  createHeaders(code: ErrorCode, links?: string): Readonly<Record<string, string>> {
    if (this.page === undefined) {
      return {};
    }
    const help = `<${this.page}#${code}>; rel="help"; type="text/html"`;
    return { link: links === undefined ? help : `${links}, ${help}` };
  }
}
