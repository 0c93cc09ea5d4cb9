import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const MAX_STARTS_PER_TICK = 16;
/** How many requests may wait before connections pause after their responses. */
const MAX_WAITING_BEFORE_PAUSE = 32;

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Starts at most 16 requests in each event-loop tick. Further requests wait in the order of their arrival.
 *
 * Node accepts one connection per tick. Without this limit, a tick starts a request of every busy connection, so new connections wait for
 * seconds while hundreds are busy: connections of a readiness probe, or those that a gateway moves from a replica that stopped.
 *
 * While 32 requests wait, no connection continues after its response, so further requests wait in the kernel. Parsed requests of hundreds
 * of connections survived several garbage collections, which took a quarter of the CPU time.
 */
export class RequestPacing {
  private readonly waiting: (() => void)[] = [];
  private readonly continuations: (() => void)[] = [];
  private starts = 0;
  private isTickScheduled = false;

  constructor(server: Server) {
    const handle = takeRequestHandler(server);
    const start: RequestHandler = (request, response) => {
      this.starts++;
      this.scheduleTick();
      handle(request, response);
    };
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (this.waiting.length === 0 && this.starts < MAX_STARTS_PER_TICK) {
        start(request, response);
      } else {
        this.waiting.push(deferHandler(start, request, response));
      }
    });
  }

  /** Whether connections should not be read after their responses. */
  get isBusy(): boolean {
    return this.waiting.length >= MAX_WAITING_BEFORE_PAUSE || this.continuations.length > 0;
  }

  /** Lets a connection continue with its next request, in a later tick in which fewer than 32 requests wait. */
  continueLater(continuation: () => void): void {
    this.continuations.push(continuation);
    this.scheduleTick();
  }

  private scheduleTick(): void {
    if (!this.isTickScheduled) {
      this.isTickScheduled = true;
      setImmediate(() => {
        this.runTick();
      });
    }
  }

  private runTick(): void {
    this.isTickScheduled = false;
    this.starts = 0;
    runNext(this.waiting, MAX_STARTS_PER_TICK);
    runNext(this.continuations, Math.max(0, MAX_WAITING_BEFORE_PAUSE - this.waiting.length));
    if (this.continuations.length > 0) {
      this.scheduleTick();
    }
  }
}

function runNext(callbacks: (() => void)[], count: number): void {
  callbacks.splice(0, count).forEach((callback) => {
    callback();
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
