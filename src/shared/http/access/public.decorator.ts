import { type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const PUBLIC = 'petstore:public';

/** Makes a route public: no API key, no rate limit. All other routes are protected. */
export function Public(): CustomDecorator {
  return SetMetadata(PUBLIC, true);
}

export function isPublic(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean>(PUBLIC, [context.getHandler(), context.getClass()]);
}
