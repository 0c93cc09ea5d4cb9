import { type CustomDecorator, SetMetadata } from '@nestjs/common';

const REQUIRED_SCOPE_METADATA = 'api:required-scope';

type Scopes = readonly [read: string, write: string];

/**
 * Declares the scope that an API key needs for an operation, or the scopes for the operations of a controller: the first for GET and HEAD,
 * the second for other methods. Modules bring their scopes. Without it, they are `read` and `write`.
 */
export function RequireScope(scope: string, writeScope: string = scope): CustomDecorator {
  return SetMetadata(REQUIRED_SCOPE_METADATA, [scope, writeScope] satisfies Scopes);
}

export function getDeclaredScopes(handler: object, controller: object): Scopes | undefined {
  const [own, inherited] = [handler, controller].map(
    (target) => Reflect.getMetadata(REQUIRED_SCOPE_METADATA, target) as Scopes | undefined,
  );
  return own ?? inherited;
}

export function getRequiredScope(method: string, handler: object, controller: object): string {
  const [read, write] = getDeclaredScopes(handler, controller) ?? ['read', 'write'];
  return method === 'GET' || method === 'HEAD' ? read : write;
}
