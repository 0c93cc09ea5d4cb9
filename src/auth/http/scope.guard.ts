import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Scope, SCOPES } from '../../shared/domain/principal';
import { getRequiredScope } from '../../shared/http/access/require-scope.decorator';
import { BEARER_CHALLENGE } from '../../shared/http/errors/error.filter';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { InsufficientScopeError } from '../domain/auth-errors';

/**
 * Rejects operations that the scope of the API key does not include (RFC 6750 section 3.1). `@Public()` routes have no key.
 */
@Injectable()
@ApiErrors('insufficient_scope')
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const { principal } = http.getRequest<FastifyRequest>();
    if (principal !== undefined && !includesScope(principal.scope, getRequiredScope(this.reflector, context))) {
      const challenge = `${BEARER_CHALLENGE}, error="insufficient_scope"`;
      http.getResponse<FastifyReply>().header('www-authenticate', challenge);
      throw new InsufficientScopeError();
    }
    return true;
  }
}

function includesScope(scope: Scope | undefined, required: Scope): boolean {
  return scope !== undefined && SCOPES.indexOf(scope) >= SCOPES.indexOf(required);
}
