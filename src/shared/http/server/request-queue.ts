import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of a connection may wait for the responses to earlier ones. */
const MAX_WAITING_PER_CONNECTION = 16;
const MAX_STARTS_PER_TICK = 16;
/** How long a closed connection stays half-open, so that the client can read the last response before TCP resets the connection. */
const LINGER_MS = 300;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves when all earlier requests of the connection have their responses. */
  readonly turn: Promise<void>;
  isStarted?: true;
  isGivenUp?: true;
}

interface Connection {
  /** Requests without a complete response. */
  pending: number;
  /** The last request, until it has arrived completely and has its response. */
  last?: Exchange;
  /** Resolves when the last request has its response. */
  responses: Promise<void>;
  /** Whether further requests are ignored. */
  isClosing?: true;
  /** Whether the connection ends after the current response. */
  isOverloaded?: true;
}

const connections = new WeakMap<Socket, Connection>();
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
    const exchange: Exchange = { request, response, turn: connection.responses };
    connection.last = exchange;
    connection.responses = new Promise((resolve) => {
      response.on('close', () => {
        connection.pending--;
        if (connection.last === exchange && request.complete) {
          delete connection.last;
        }
        resolve();
      });
    });
    const handle = () => {
      exchange.isStarted = true;
      listener(request, response);
    };
    if (++connection.pending === 1) {
      start(handle);
      return;
    }
    void exchange.turn.then(() => {
      if (connection.isOverloaded) {
        endConnection(socket);
      } else if (!exchange.isGivenUp) {
        start(handle);
      }
    });
  };
}

/**
 * Ignores everything that arrives on a connection from now on, and waits for the responses to the requests that have arrived completely.
 * @returns the incomplete request, if there is one; nothing if the connection is closing already
 */
export async function completeRequests(socket: Socket): Promise<{ readonly incomplete?: Exchange } | undefined> {
  if (socket.listenerCount('error') === 0) {
    // Node has removed its own listener. Without one, a reset connection would end the process.
    socket.on('error', () => undefined);
  }
  const connection = getConnection(socket);
  if (connection.isClosing) {
    return undefined;
  }
  connection.isClosing = true;
  const { last } = connection;
  if (last?.request.complete !== false) {
    await connection.responses;
    return {};
  }
  last.isGivenUp = true;
  await last.turn;
  return { incomplete: last };
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

function getConnection(socket: Socket): Connection {
  let connection = connections.get(socket);
  if (connection === undefined) {
    connection = { pending: 0, responses: Promise.resolve() };
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
    waiting.push(AsyncResource.bind(handle));
  }
}

function startWaiting(): void {
  starts = 0;
  waiting.splice(0, MAX_STARTS_PER_TICK).forEach(start);
}
