/** The scopes of the service itself. Modules bring more, such as `orders:write`. */
export const GENERAL_SCOPES = ['read', 'write'] as const;

/** Parses the scope of a key: names separated by spaces (RFC 6749 section 3.3). */
export function parseScope(scope: string): readonly string[] {
  return scope.split(' ').filter(Boolean);
}

/**
 * Whether one of the granted scopes includes the required one: `write` includes every scope, `read` includes every scope that ends with
 * `:read`, and `orders:write` includes `orders:read`. An unknown scope includes only itself.
 */
export function includesScope(granted: readonly string[], required: string): boolean {
  const [resource, level] = required.split(':');
  return granted.some(
    (scope) =>
      scope === required ||
      scope === 'write' ||
      ((scope === 'read' || scope === `${resource}:write`) && (level ?? resource) === 'read'),
  );
}
