import type { INestApplication } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ApiExtension, type OperationObject } from '@nestjs/swagger';

/** A handler, and the controllers that have it: more than one if they inherit it. */
export interface Handler {
  readonly handler: object;
  readonly controllers: object[];
}

/** The extension by which an operation of the document names its handler, until the document is complete. */
const HANDLER_EXTENSION = 'x-handler';

/** The value of the extension, which stays with a handler for the lifetime of the process. */
const handlerIds = new Map<object, number>();

/** Lists the controllers, and marks their handlers, so that `takeHandler` finds the handler of an operation. */
export function discoverHandlers(app: INestApplication): {
  controllers: object[];
  handlers: ReadonlyMap<number, Handler>;
} {
  const scanner = app.get(MetadataScanner);
  const prototypes = app
    .get(DiscoveryService)
    .getControllers()
    .map(({ metatype }) => metatype?.prototype as object);
  const handlers = new Map<number, Handler>();
  for (const prototype of prototypes) {
    for (const name of scanner.getAllMethodNames(prototype)) {
      const handler = Reflect.get(prototype, name) as object;
      const id = handlerIds.get(handler) ?? handlerIds.size;
      handlerIds.set(handler, id);
      ApiExtension(HANDLER_EXTENSION, id)(prototype, name, { value: handler });
      const { controllers } = handlers.get(id) ?? { controllers: [] };
      handlers.set(id, { handler, controllers: [...controllers, prototype.constructor] });
    }
  }
  return { controllers: prototypes.map(({ constructor }) => constructor), handlers };
}

/** Finds the handler of an operation, and removes its mark. */
export function takeHandler(operation: OperationObject, handlers: ReadonlyMap<number, Handler>): Handler | undefined {
  const marked = operation as OperationObject & { [HANDLER_EXTENSION]?: number };
  const handler = handlers.get(marked[HANDLER_EXTENSION] ?? NaN);
  delete marked[HANDLER_EXTENSION];
  return handler;
}

/**
 * Creates operation IDs: the name of the handler, after that of its controller if a controller before it has a handler of the same name.
 */
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
