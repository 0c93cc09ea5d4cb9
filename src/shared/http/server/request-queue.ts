import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/** How many requests of a connection may wait for the responses to earlier ones. */
const MAX_WAITING_PER_CONNECTION = 16;
const MAX_STARTS_PER_TICK = 16;
/** How long a closed connection stays half-open, so that the client can read the last response before TCP resets the connection. */
const LINGER_MS = 300;
/** A response is given up after 30 to 40 s without progress. */
const PROGRESS_CHECK_MS = 10_000;
const MAX_CHECKS_WITHOUT_PROGRESS = 3;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  isStarted?: true;
  /** Whether it never starts, because it did not arrive completely. */
  isGivenUp?: true;
  /** Whether its response is complete. */
  isClosed?: true;
  reply?: FastifyReply;
}

interface Connection {
  /** Requests without a complete response. */
  pending: number;
  /** Starts the requests that wait for the responses to earlier ones. */
  readonly waiting: (() => void)[];
  /** The last request, until it has arrived completely and has its response. */
  last?: Exchange;
  /** Whether further requests are ignored. */
  isClosing?: true;
  /** Whether the connection ends after the current response. */
  isOverloaded?: true;
  checksWithoutProgress?: number;
  lastCheckAt?: number;
}

const connections = new WeakMap<Socket, Connection>();
/** When a request arrived, by performance.now(). With an entry for each request, a WeakMap would take several percent of the CPU. */
const ARRIVED_AT = Symbol('arrived at');

interface Arrival {
  [ARRIVED_AT]?: number;
}
const waiting: (() => void)[] = [];
let starts = 0;

/**
 * Returns a listener that handles the requests of a connection one after another (RFC 9112 section 9.3.2), in the asynchronous contexts in
 * which they arrived, and starts at most 16 requests in each event-loop tick.
 *
 * Node parses all requests that arrive together and accepts one connection per tick. Without these limits, a client that pipelines
 * thousands of requests or hundreds of busy connections would keep new connections waiting for seconds, those of a readiness probe included.
 */
export function queueRequests(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request;
    const connection = getConnection(socket);
    if (connection.isClosing) {
      return;
    }
    if (connection.pending > MAX_WAITING_PER_CONNECTION) {
      connection.isClosing = connection.isOverloaded = true;
      // Node resumes the connection after each request that it has parsed.
      process.nextTick(() => socket.pause());
      return;
    }
    (request as Arrival)[ARRIVED_AT] = performance.now();
    const exchange: Exchange = { request, response };
    connection.last = exchange;
    const close = () => {
      if (exchange.isClosed) {
        return;
      }
      connection.pending--;
      exchange.isClosed = true;
      if (connection.last === exchange && request.complete) {
        delete connection.last;
      }
      if (connection.isOverloaded) {
        endConnection(socket);
      } else {
        connection.waiting.shift()?.();
      }
    };
    response.on('close', close);
    const handle = () => {
      if (!exchange.isGivenUp) {
        exchange.isStarted = true;
        listener(request, response);
        if (socket.destroyed) {
          // Node does not close the responses to pipelined requests that it has not come to.
          close();
        }
      }
    };
    if (++connection.pending === 1) {
      start(handle);
    } else {
      connection.waiting.push(
        bindContext(() => {
          start(handle);
        }),
      );
    }
  };
}

/** When a request arrived, which may be long before it starts, by performance.now(). */
export function getArrivalTime(request: IncomingMessage): number {
  return (request as Arrival)[ARRIVED_AT] ?? performance.now();
}

/**
 * Ignores everything that arrives on a connection from now on, and waits for the responses to the requests that have arrived completely.
 * @returns the incomplete request, if there is one; nothing if the connection is closing already
 */
export async function completeRequests(
  socket: Socket,
): Promise<{ readonly incomplete: Exchange | undefined } | undefined> {
  if (socket.listenerCount('error') === 0) {
    // Node has removed its own listener. Without one, a reset connection would end the process.
    socket.on('error', () => undefined);
  }
  const connection = getConnection(socket);
  if (connection.isClosing) {
    return undefined;
  }
  connection.isClosing = true;
  socket.pause();
  const { last, pending } = connection;
  const incomplete = last?.request.complete === false ? last : undefined;
  if (incomplete === undefined || incomplete.isClosed) {
    await waitForTurn(connection, pending);
    return { incomplete };
  }
  incomplete.isGivenUp = true;
  await waitForTurn(connection, pending - 1);
  return { incomplete };
}

/** Makes a reply known to `completeRequests`. */
export function setReply(reply: FastifyReply): void {
  const last = connections.get(reply.request.socket)?.last;
  if (last?.response === reply.raw) {
    last.reply = reply;
  }
}

/** Waits for the first responses of a connection. */
function waitForTurn({ waiting: turns }: Connection, responses: number): Promise<void> | undefined {
  return responses === 0
    ? undefined
    : new Promise((resolve) => {
        turns.splice(responses - 1, turns.length, resolve);
      });
}

/** Ends a connection, but lets the client read the last response. */
export function endConnection(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Starts anew with a connection on which nothing is pending. */
export function forgetConnection(socket: Socket): void {
  connections.delete(socket);
}

/** Closes a connection whose client has read nothing of a response for 30 s. A response that has nothing to send may take any time. */
export function giveUpUnreadResponses(server: Server): void {
  // Node calls back if a connection has made no progress since the last check.
  server.setTimeout(PROGRESS_CHECK_MS, (socket) => {
    const connection = getConnection(socket);
    if (connection.pending === 0) {
      // The keep-alive timeout.
      socket.destroy();
      return;
    }
    const now = performance.now();
    const isConsecutive = now - (connection.lastCheckAt ?? 0) < 1.5 * PROGRESS_CHECK_MS;
    const checks = socket.writableLength === 0 ? 0 : 1 + (isConsecutive ? (connection.checksWithoutProgress ?? 0) : 0);
    Object.assign(connection, { lastCheckAt: now, checksWithoutProgress: checks });
    if (checks === MAX_CHECKS_WITHOUT_PROGRESS) {
      // Unlike `destroy`, this also frees what the kernel has buffered.
      socket.resetAndDestroy();
    } else {
      socket.setTimeout(PROGRESS_CHECK_MS);
    }
  });
}

function getConnection(socket: Socket): Connection {
  let connection = connections.get(socket);
  if (connection === undefined) {
    connection = { pending: 0, waiting: [] };
    connections.set(socket, connection);
  }
  return connection;
}

function start(handle: () => void): void {
  if (starts === 0) {
    setImmediate(startWaiting);
  }
  if (starts < MAX_STARTS_PER_TICK) {
    starts++;
    handle();
  } else {
    waiting.push(bindContext(handle));
  }
}

function startWaiting(): void {
  starts = 0;
  waiting.splice(0, MAX_STARTS_PER_TICK).forEach(start);
}

/** `AsyncResource.bind` takes several times as long. */
function bindContext(callback: () => void): () => void {
  const context = new AsyncResource('WAITING_REQUEST');
  return () => {
    context.runInAsyncScope(callback);
  };
}
