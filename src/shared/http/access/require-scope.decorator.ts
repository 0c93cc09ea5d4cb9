import { type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Scope } from '../../domain/principal';

const REQUIRED_SCOPE_METADATA = 'api:required-scope';

/**
 * Declares the scope that an API key needs for an operation. Without it, every method except GET and HEAD needs `write`.
 */
export function RequireScope(scope: Scope): CustomDecorator {
  return SetMetadata(REQUIRED_SCOPE_METADATA, scope);
}

export function getRequiredScope(reflector: Reflector, context: ExecutionContext): Scope {
  const declared = reflector.get<Scope | undefined>(REQUIRED_SCOPE_METADATA, context.getHandler());
  const { method } = context.switchToHttp().getRequest<FastifyRequest>();
  return declared ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write');
}
