import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../shared/domain/principal';
import { includesScope } from '../../shared/domain/scope';
import { getRequiredScope } from '../../shared/http/access/require-scope.decorator';
import { BEARER_CHALLENGE } from '../../shared/http/errors/error.filter';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { reportUnknownValue } from '../../shared/unknown-values';
import { InsufficientScopeError } from '../domain/auth-errors';

/** The scopes of the service and of its modules. */
export class KnownScopes {
  constructor(readonly names: readonly string[]) {}
}

/**
 * Rejects operations whose scope the API key does not grant (RFC 6750 section 3.1). `@Public()` routes have no key.
 */
@Injectable()
@ApiErrors('insufficient_scope')
export class ScopeGuard implements CanActivate {
  constructor(private readonly known: KnownScopes) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') {
      return true;
    }
    const http = context.switchToHttp();
    const { principal, method } = http.getRequest<FastifyRequest>();
    const scope = getRequiredScope(method, context.getHandler(), context.getClass());
    if (principal !== undefined && !includesScope(principal.scopes, scope)) {
      this.reportUnknownScopes(principal);
      const challenge = `${BEARER_CHALLENGE}, error="insufficient_scope"`;
      http.getResponse<FastifyReply>().header('www-authenticate', challenge);
      throw new InsufficientScopeError();
    }
    return true;
  }

  private reportUnknownScopes({ scopes, keyId, accountId }: Principal): void {
    for (const scope of scopes.filter((each) => !this.known.names.includes(each))) {
      reportUnknownValue(
        { scope, keyId, accountId },
        `the scope ${JSON.stringify(scope)} of key ${keyId} of account ${accountId}`,
        'it grants nothing',
      );
    }
  }
}
