import { Controller, type INestApplication, type Type, Version, VersioningType } from '@nestjs/common';
import { ApplicationConfig, DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';

/** A handler, and a controller that has it. */
export interface Route {
  readonly controller: Type;
  readonly handler: object;
}

/** Where Nest keeps the versions of a controller or a handler, and the path of a controller. */
const VERSION_METADATA = findMetadataKey(Version('1'));
const PATH_METADATA = findMetadataKey(Controller('path'), 'path');

const UNSUPPORTED_PATHS =
  'The paths of the API begin with /v1: remove setGlobalPrefix(), and enableVersioning() with another type or prefix. ' +
  'A gateway can add a prefix.';

/** Finds the key under which a decorator of a class or a method stores its metadata, or this metadata. */
export function findMetadataKey(decorate: MethodDecorator | ClassDecorator, metadata?: unknown): string {
  const value = () => undefined;
  (decorate as MethodDecorator)(value, '', { value });
  const keys: unknown[] = Reflect.getMetadataKeys(value);
  return String(keys.find((key) => metadata === undefined || Reflect.getMetadata(key, value) === metadata));
}

/** Returns the paths that a controller declares, without its version. */
export function getDeclaredPaths(controller: object): string[] {
  return [Reflect.getMetadata(PATH_METADATA, controller) as string | string[]].flat();
}

/** Lists the handlers of all controllers. */
export function discoverRoutes(app: INestApplication): Route[] {
  const scanner = app.get(MetadataScanner);
  const controllers = app.get(DiscoveryService).getControllers() as { readonly metatype: Type }[];
  return controllers.flatMap(({ metatype: controller }) =>
    scanner
      .getAllMethodNames(controller.prototype as object)
      .map((name) => Reflect.get(controller.prototype as object, name) as object)
      .filter((method) => Reflect.getMetadataKeys(method).length > 0)
      .map((handler) => ({ controller, handler })),
  );
}

/** Returns the versions that a route declares; none if it is version-neutral. */
export function getDeclaredVersions({ controller, handler }: Route): string[] {
  const read = (target: object): unknown => Reflect.getMetadata(VERSION_METADATA, target);
  return [read(handler) ?? read(controller)].flat().filter((version) => typeof version === 'string');
}

/**
 * Opens the versions of the API that handlers declare: the promises of `/v1` then apply to every path below `/v2` too. Call it before the
 * routes are registered. The start fails if the paths of the API would not begin with their version.
 */
export function openApiVersions(app: INestApplication, fastify: FastifyInstance): void {
  app.enableVersioning({ type: VersioningType.URI });
  fastify.addHook('onReady', (done) => {
    const config = app.get(ApplicationConfig);
    const versioning = config.getVersioning();
    const isUnchanged = versioning?.type === VersioningType.URI && versioning.prefix === undefined;
    done(isUnchanged && config.getGlobalPrefix() === '' ? undefined : new Error(UNSUPPORTED_PATHS));
  });
  for (const version of discoverRoutes(app).flatMap(getDeclaredVersions)) {
    fastify.apiVersions.add(version);
  }
  const others = [...fastify.apiVersions].filter((version) => version !== '1');
  fastify.addHook('onRoute', ({ url, method, handler, config }) => {
    if (config?.isCatchAll && /^\/v1(\/|$)/.test(url)) {
      for (const version of others) {
        fastify.route({ url: url.replace('/v1', `/v${version}`), method, handler, config });
      }
    }
  });
}
