import { type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

const REQUIRED_SCOPE_METADATA = 'api:required-scope';

/**
 * Declares the scope that an API key needs for an operation, or for all operations of a controller: one that its module brings. Without
 * it, GET and HEAD need `read`, and other methods need `write`.
 */
export function RequireScope(scope: string): CustomDecorator {
  return SetMetadata(REQUIRED_SCOPE_METADATA, scope);
}

export function getDeclaredScope(handler: object, controller: object): string | undefined {
  const [own, inherited] = [handler, controller].map(
    (target) => Reflect.getMetadata(REQUIRED_SCOPE_METADATA, target) as string | undefined,
  );
  return own ?? inherited;
}

export function getRequiredScope(context: ExecutionContext): string {
  const { method } = context.switchToHttp().getRequest<FastifyRequest>();
  const declared = getDeclaredScope(context.getHandler(), context.getClass());
  return declared ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write');
}
