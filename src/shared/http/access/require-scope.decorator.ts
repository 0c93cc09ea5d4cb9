import { type CustomDecorator, SetMetadata } from '@nestjs/common';

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

export function getRequiredScope(method: string, handler: object, controller: object): string {
  return getDeclaredScope(handler, controller) ?? (method === 'GET' || method === 'HEAD' ? 'read' : 'write');
}
