import { type CanActivate, type ExecutionContext, Injectable, type RawBodyRequest } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard } from './api-key.guard';
import { ScopeGuard } from './scope.guard';

/** How long after its start a request is checked again. */
const RECHECK_AFTER_MS = 100;

/**
 * Checks the credentials and the scope again after a body that arrived slowly: meanwhile, the key may have been revoked or got another scope,
 * or the account suspended.
 */
@Injectable()
export class SlowBodyGuard implements CanActivate {
  constructor(
    private readonly authentication: ApiKeyGuard,
    private readonly scope: ScopeGuard,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<boolean> {
    if (context.getType() !== 'http') {
      return true;
    }
    const http = context.switchToHttp();
    const { rawBody } = http.getRequest<RawBodyRequest<FastifyRequest>>();
    const isSlow = rawBody !== undefined && http.getResponse<FastifyReply>().elapsedTime > RECHECK_AFTER_MS;
    return isSlow ? this.checkAgain(context) : true;
  }

  private async checkAgain(context: ExecutionContext): Promise<boolean> {
    return (await this.authentication.canActivate(context)) && this.scope.canActivate(context);
  }
}
