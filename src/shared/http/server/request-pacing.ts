import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const MAX_STARTS_PER_TICK = 16;

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Starts at most 16 requests in each event-loop tick. Further requests wait in the order of their arrival.
 *
 * Node accepts one connection per tick. Without this limit, a tick starts a request of every busy connection, so new connections wait for
 * seconds while hundreds are busy: connections of a readiness probe, or those that a gateway moves from a replica that stopped.
 */
export function paceRequests(server: Server): void {
  const handle = takeRequestHandler(server);
  const waiting: (() => void)[] = [];
  let starts = 0;
  const start: RequestHandler = (request, response) => {
    starts++;
    if (starts === 1) {
      setImmediate(startWaiting);
    }
    handle(request, response);
  };
  const startWaiting = () => {
    starts = 0;
    waiting.splice(0, MAX_STARTS_PER_TICK).forEach((startNext) => {
      startNext();
    });
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (waiting.length === 0 && starts < MAX_STARTS_PER_TICK) {
      start(request, response);
    } else {
      waiting.push(deferHandler(start, request, response));
    }
  });
}

/** Removes the handlers of the server's requests. @returns a function that calls them */
export function takeRequestHandler(server: Server): RequestHandler {
  const handlers = server.listeners('request') as RequestHandler[];
  server.removeAllListeners('request');
  return (request, response) => {
    handlers.forEach((handle) => {
      handle.call(server, request, response);
    });
  };
}

/** @returns a function that handles the request in its current asynchronous context, in which tracing agents find its span */
export function deferHandler(handle: RequestHandler, ...args: Parameters<RequestHandler>): () => void {
  const context = new AsyncResource('WAITING_REQUEST');
  return () => {
    context.runInAsyncScope(handle, undefined, ...args);
  };
}
