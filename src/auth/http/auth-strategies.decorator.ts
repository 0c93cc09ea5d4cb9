import { type CustomDecorator, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { AuthModuleOptions } from '@nestjs/passport';

const AUTH_STRATEGIES_METADATA = 'api:auth-strategies';

/**
 * Declares the passport strategies that find the caller of an operation, or of all operations of a controller, in the order in which they
 * are tried. Other operations use the default strategies of the AuthModule.
 */
export function AuthStrategies(...names: [string, ...string[]]): CustomDecorator {
  return SetMetadata(AUTH_STRATEGIES_METADATA, names);
}

/** @param targets the handler, then its controller */
export function getAuthStrategies(
  reflector: Reflector,
  targets: Parameters<Reflector['getAllAndOverride']>[1],
  { defaultStrategy = [] }: AuthModuleOptions,
): readonly string[] {
  const declared = reflector.getAllAndOverride<string[] | undefined>(AUTH_STRATEGIES_METADATA, targets);
  return declared ?? [defaultStrategy].flat();
}
