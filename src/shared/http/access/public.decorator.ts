import { type CustomDecorator, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const PUBLIC_METADATA = 'api:public';

/** Makes a route public: no API key, no rate limit. All other routes are protected. */
export function Public(): CustomDecorator {
  return SetMetadata(PUBLIC_METADATA, true);
}

/** @param targets the handler, then its controller */
export function isPublic(reflector: Reflector, targets: Parameters<Reflector['getAllAndOverride']>[1]): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(PUBLIC_METADATA, targets) === true;
}
