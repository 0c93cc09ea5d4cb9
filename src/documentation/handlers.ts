import type { Type } from '@nestjs/common';
import { ApiExcludeController, ApiExcludeEndpoint, ApiExtension, type OperationObject } from '@nestjs/swagger';
import { findMetadataKey, type Route } from '../shared/http/routing/api-versions';

/** A handler, and the controllers that have it: more than one if they inherit it. */
export interface Handler {
  readonly handler: object;
  readonly controllers: object[];
}

/** The extension by which an operation of the document names its handler, until the document is complete. */
const HANDLER_EXTENSION = 'x-handler';

/** The value of the extension, which stays with a handler for the lifetime of the process. */
const handlerIds = new Map<object, number>();

const EXCLUDED_CONTROLLER_METADATA = findMetadataKey(ApiExcludeController());
const EXCLUDED_HANDLER_METADATA = findMetadataKey(ApiExcludeEndpoint());

/** Marks the handlers of these routes, so that `takeHandler` finds the handler of an operation. */
export function markHandlers(routes: readonly Route[]): ReadonlyMap<number, Handler> {
  const handlers = new Map<number, Handler>();
  for (const { handler, controller } of routes) {
    const id = handlerIds.get(handler) ?? handlerIds.size;
    handlerIds.set(handler, id);
    ApiExtension(HANDLER_EXTENSION, id)(controller, '', { value: handler });
    const { controllers } = handlers.get(id) ?? { controllers: [] };
    handlers.set(id, { handler, controllers: [...controllers, controller] });
  }
  return handlers;
}

/** Finds the handler of an operation, and removes its mark. */
export function takeHandler(operation: OperationObject, handlers: ReadonlyMap<number, Handler>): Handler | undefined {
  const marked = operation as OperationObject & { [HANDLER_EXTENSION]?: number };
  const handler = handlers.get(marked[HANDLER_EXTENSION] ?? NaN);
  delete marked[HANDLER_EXTENSION];
  return handler;
}

/**
 * Calls `create` while SwaggerModule sees only the handlers and controllers of some routes. Otherwise, schemas of the same name would
 * replace each other in the documents of two versions.
 */
export function hideOtherRoutes<T>(all: readonly Route[], shown: readonly Route[], create: () => T): T {
  const shownHandlers = new Set(shown.map(({ handler }) => handler));
  const handlers = new Set(all.map(({ handler }) => handler).filter((handler) => !shownHandlers.has(handler)));
  // A controller that is shown would inherit that its base class is hidden.
  const isShown = (base: Type) =>
    shown.some(({ controller }) => controller === base || controller.prototype instanceof base);
  const controllers = new Set(all.map(({ controller }) => controller).filter((controller) => !isShown(controller)));
  const restored = [
    ...[...handlers].map((target) => [target, EXCLUDED_HANDLER_METADATA] as const),
    ...[...controllers].map((target) => [target, EXCLUDED_CONTROLLER_METADATA] as const),
  ].map(([target, key]) => ({ target, key, value: Reflect.getMetadata(key, target) as unknown }));
  handlers.forEach((value) => ApiExcludeEndpoint()({}, '', { value }));
  controllers.forEach((controller) => {
    ApiExcludeController()(controller);
  });
  try {
    return create();
  } finally {
    restored.forEach(({ target, key, value }) => {
      Reflect.defineMetadata(key, value, target);
    });
  }
}

/** Creates operation IDs: the name of the handler, after that of its controller if a controller before it has a handler of the same name. */
export function createOperationIds(): (controller: string, method: string) => string {
  const owners = new Map<string, string>();
  return (controller, method) => {
    // A handler with several paths has several operations, such as `list[1]`.
    const name = method.replace(/\[(\d+)\]$/, '_$1');
    const owner = owners.get(name) ?? controller;
    owners.set(name, owner);
    return owner === controller ? name : `${controller}_${name}`;
  };
}

/** Numbers the operations whose IDs occur more than once. */
export function numberOperationIds(operations: readonly OperationObject[]): void {
  const used = new Set<string>();
  for (const operation of operations) {
    const { operationId: name = '' } = operation;
    let id = name;
    for (let number = 2; used.has(id); number++) {
      id = `${name}_${number}`;
    }
    used.add(id);
    operation.operationId = id;
  }
}
