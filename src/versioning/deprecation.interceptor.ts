import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import type { Observable } from 'rxjs';
import { Settings } from '../config/settings';
import { DEPRECATION, type Deprecation } from './deprecated.decorator';

/** Adds `Deprecation`, `Sunset` and `Link` to every answer of a deprecated operation, errors of its pipes included. */
@Injectable()
export class DeprecationInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const deprecation = this.reflector.get<Deprecation | undefined>(DEPRECATION, context.getHandler());
    if (deprecation !== undefined) {
      context
        .switchToHttp()
        .getResponse<FastifyReply>()
        .headers(deprecationHeaders(deprecation, this.settings.baseUrl));
    }
    return next.handle();
  }
}

function deprecationHeaders({ since, sunset, successor, documentation }: Deprecation, baseUrl: string) {
  const documentationPage = `${baseUrl.slice(0, -'/v1'.length)}/docs`;
  return {
    deprecation: `@${Date.parse(since) / 1_000}`,
    sunset: new Date(sunset).toUTCString(),
    link: [
      `<${documentationPage}${documentation}>; rel="deprecation"; type="text/html"`,
      `<${baseUrl}${successor}>; rel="successor-version"`,
    ].join(', '),
  };
}
