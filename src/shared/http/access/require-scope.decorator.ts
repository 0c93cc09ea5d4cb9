import { type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

const REQUIRED_SCOPE_METADATA = 'api:required-scope';

/**
 * Declares the scope that an API key needs for an operation: one that its module brings. Without it, GET and HEAD need `read`, and other
 * methods need `write`.
 */
export function RequireScope(scope: string): CustomDecorator {
  return SetMetadata(REQUIRED_SCOPE_METADATA, scope);
}

export function getDeclaredScope(handler: object): string | undefined {
  return Reflect.getMetadata(REQUIRED_SCOPE_METADATA, handler) as string | undefined;
}

export function getRequiredScope(context: ExecutionContext): string {
  const { method } = context.switchToHttp().getRequest<FastifyRequest>();
  return getDeclaredScope(context.getHandler()) ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write');
}
