import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { API_KEY_STRATEGY } from '../auth';

/** The name of the security scheme of API keys. */
export const API_KEY_SCHEME = 'apiKey';

const BEARER_SCHEME = { type: 'http', scheme: 'bearer' } as const;

/**
 * Documents the strategies that find the caller of an operation, and the scope that the caller needs, unless a decorator such as
 * `@ApiBearerAuth()` has documented others.
 */
export function addSecurity(
  document: OpenAPIObject,
  operation: OperationObject,
  strategies: readonly string[],
  scope: string,
): void {
  if (operation.security !== undefined) {
    return;
  }
  const schemes = strategies.map((name) => (name === API_KEY_STRATEGY ? API_KEY_SCHEME : name));
  operation.security = schemes.map((name) => ({ [name]: [scope] }));
  const known = document.components?.securitySchemes ?? {};
  const all = Object.fromEntries(schemes.map((name) => [name, known[name] ?? BEARER_SCHEME]));
  document.components = { ...document.components, securitySchemes: { ...known, ...all } };
}
