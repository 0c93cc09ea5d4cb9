import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import type { Observable } from 'rxjs';
import { getDocsUrl, Settings } from '../config/settings';

export interface Deprecation {
  /** The UTC date of the deprecation (RFC 9745), `YYYY-MM-DD`. */
  readonly since: string;
  /** The UTC date of its removal (RFC 8594), `YYYY-MM-DD`. */
  readonly sunset: string;
  /** The path, relative to the base URL, of the operation to use instead (RFC 5829, `successor-version`). */
  readonly successor: string;
  /** The fragment of the API reference that explains it, such as `#/pets/getPet`. */
  readonly documentation: string;
}

export const DEPRECATION_METADATA = 'petstore:deprecation';

/**
 * Adds `Deprecation`, `Sunset` and `Link` to every response of a deprecated operation, including errors of its pipes,
 * but not to errors of the guards, which run earlier.
 */
@Injectable()
export class DeprecationInterceptor implements NestInterceptor {
  private readonly headers = new Map<unknown, Record<string, string>>();

  constructor(
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const handler = context.getHandler();
    const headers =
      this.headers.get(handler) ??
      createDeprecationHeaders(this.reflector.get<Deprecation>(DEPRECATION_METADATA, handler), this.settings);
    this.headers.set(handler, headers);
    context.switchToHttp().getResponse<FastifyReply>().headers(headers);
    return next.handle();
  }
}

function createDeprecationHeaders({ since, sunset, successor, documentation }: Deprecation, settings: Settings) {
  const docs = getDocsUrl(settings);
  return {
    deprecation: `@${Date.parse(since) / 1_000}`,
    sunset: new Date(sunset).toUTCString(),
    link: [
      // If the documentation is disabled, the link would lead nowhere.
      ...(docs ? [`<${docs}/reference${documentation}>; rel="deprecation"; type="text/html"`] : []),
      `<${settings.baseUrl}${successor}>; rel="successor-version"`,
    ].join(', '),
  };
}
