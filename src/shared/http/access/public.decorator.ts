import { type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const PUBLIC_METADATA = 'api:public';

/** Makes a route public: no API key, no rate limit. All other routes are protected. */
export function Public(): CustomDecorator {
  return SetMetadata(PUBLIC_METADATA, true);
}

export function isPublic(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean>(PUBLIC_METADATA, [context.getHandler(), context.getClass()]);
}
