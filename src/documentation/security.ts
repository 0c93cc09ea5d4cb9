import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { API_KEY_STRATEGY } from '../auth';

/** The name of the security scheme of API keys. */
export const API_KEY_SCHEME = 'apiKey';

const BEARER_SCHEME = { type: 'http', scheme: 'bearer' } as const;

/**
 * Documents the strategies that find the caller of an operation, unless a decorator such as `@ApiSecurity()` has documented other schemes of
 * the document.
 */
export function addSecurity(document: OpenAPIObject, operation: OperationObject, strategies: readonly string[]): void {
  const known = document.components?.securitySchemes ?? {};
  if (operation.security?.flatMap(Object.keys).every((name) => name in known)) {
    return;
  }
  const schemes = strategies.map((name) => (name === API_KEY_STRATEGY ? API_KEY_SCHEME : name));
  if (schemes.join() === API_KEY_SCHEME) {
    delete operation.security;
    return;
  }
  operation.security = schemes.map((name) => ({ [name]: [] }));
  const all = Object.fromEntries(schemes.map((name) => [name, known[name] ?? BEARER_SCHEME]));
  document.components = { ...document.components, securitySchemes: { ...known, ...all } };
}
