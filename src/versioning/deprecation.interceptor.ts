import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { getDocsUrl, removeVersion, Settings } from '../config/settings';
import { findApiVersion } from '../shared/http/access/url-check';
import { joinLinks } from '../shared/http/routing/links';

export interface Deprecation {
  /** The UTC date of the deprecation (RFC 9745), `YYYY-MM-DD`. */
  readonly since: string;
  /** The UTC date of its removal (RFC 8594), `YYYY-MM-DD`. */
  readonly sunset: string;
  /**
   * The path of the operation to use instead (RFC 5829, `successor-version`), such as `/v2/pets/{petId}`: a path parameter has its value in
   * the request.
   */
  readonly successor: `/v${string}`;
  /** The fragment of the API reference that explains it, such as `#/pets/getPet`. */
  readonly documentation: string;
}

export const DEPRECATION_METADATA = 'api:deprecation';

/**
 * Adds `Deprecation`, `Sunset` and `Link` to every response of a deprecated operation, including errors of its pipes,
 * but not to errors of the guards, which run earlier.
 */
@Injectable()
export class DeprecationInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const deprecation = this.reflector.get<Deprecation>(DEPRECATION_METADATA, context.getHandler());
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const { link, ...headers } = createDeprecationHeaders(deprecation, this.settings, reply.request);
    // `@Header()` may have set one.
    reply.headers({ ...headers, link: joinLinks(reply.getHeader('link'), link) });
    return next.handle();
  }
}

function createDeprecationHeaders(
  { since, sunset, successor, documentation }: Deprecation,
  settings: Settings,
  { url, params, server }: FastifyRequest,
) {
  const docs = getDocsUrl(settings);
  const version = findApiVersion(url, server) ?? '1';
  const page = version === '1' ? 'reference' : `reference?version=v${version}`;
  const values = params as Readonly<Record<string, string>>;
  const path = successor.replace(/\{(\w+)\}/g, (parameter, name: string) =>
    encodeURIComponent(values[name] ?? parameter),
  );
  return {
    deprecation: `@${Date.parse(since) / 1_000}`,
    sunset: new Date(sunset).toUTCString(),
    link: [
      // If the documentation is disabled, the link would lead nowhere.
      ...(docs ? [`<${docs}/${page}${documentation}>; rel="deprecation"; type="text/html"`] : []),
      `<${removeVersion(settings.baseUrl)}${path}>; rel="successor-version"`,
    ].join(', '),
  };
}
