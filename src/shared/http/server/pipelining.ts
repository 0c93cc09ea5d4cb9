import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { deferHandler, type RequestHandler, type RequestPacing, takeRequestHandler } from './request-pacing';

/** How many parsed requests may wait on all connections together: about 10 MB. Connections with more are closed. */
const MAX_WAITING_REQUESTS = 2_000;
/** How long input is still read and discarded before the connection is closed. */
const LINGER_TIMEOUT_MS = 1_000;
export const END_OF_HEADERS = '\r\n\r\n';

type DataListener = (bytes: Buffer) => void;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const connections = new WeakMap<Socket, Connection>();

/**
 * Bounds the cost of pipelining. Node immediately parses all requests that arrive together, thousands in one read, handles them
 * concurrently, and keeps reading until their responses fill a buffer. Here a connection has one request in progress. A request that
 * arrives before the previous response is complete waits: requests that Node parsed together with an earlier one wait in memory, and
 * everything after them waits as unparsed bytes, and then in the client, by TCP flow control.
 *
 * Until a request has to wait, Node's parser reads the connection itself. Reading all connections through streams took 15 to 20% of the
 * CPU time of a request.
 */
export function limitPipelining(server: Server, pacing: RequestPacing): void {
  const handle = takeRequestHandler(server);
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket, handle, pacing));
  });
  server.on('request', (request, response) => {
    connections.get(request.socket)?.accept({ request, response });
  });
}

/** Stops reading from a connection. @returns undefined if it was already stopped */
export function stopReading(socket: Socket): Connection | undefined {
  const connection = connections.get(socket);
  return connection?.stopReading() ? connection : undefined;
}

/** The requests of one connection. */
class Connection {
  private static totalWaiting = 0;

  /** Requests that were parsed with an earlier one, before the connection was intercepted. */
  private readonly waiting: (() => void)[] = [];
  /** How many requests, in progress or waiting, have no complete response. */
  private pendingResponses = 0;
  private isReading = true;
  private isIntercepted = false;
  /** Whether this code paused the connection. Node resumes the connections that Node has paused. */
  private isPausedHere = false;
  private lastExchange: Exchange | undefined;
  private onResponse: () => void = () => undefined;

  constructor(
    private readonly socket: Socket,
    private readonly handle: RequestHandler,
    private readonly pacing: RequestPacing,
  ) {}

  /** Handles a request after the responses to all earlier ones. */
  accept(exchange: Exchange): void {
    this.lastExchange = exchange;
    this.pendingResponses++;
    exchange.response.on('finish', () => {
      this.finish();
    });
    if (this.pendingResponses === 1) {
      this.handle(exchange.request, exchange.response);
      return;
    }
    this.intercept();
    this.pause();
    if (Connection.totalWaiting === MAX_WAITING_REQUESTS) {
      this.socket.destroy();
    } else if (!this.socket.destroyed) {
      Connection.totalWaiting++;
      this.waiting.push(deferHandler(this.handle, exchange.request, exchange.response));
    }
  }

  /** @returns whether it was still reading */
  stopReading(): boolean {
    const wasReading = this.isReading;
    this.isReading = false;
    this.intercept();
    return wasReading;
  }

  /** Ends the connection, but reads its input for a while longer: unread bytes would reset the connection. */
  end(): void {
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_TIMEOUT_MS).unref();
  }

  /** Waits for the responses to all complete requests. @returns the response of the incomplete request, if there is one */
  async waitForResponses(): Promise<ServerResponse | undefined> {
    const { lastExchange } = this;
    const incompleteResponse = lastExchange?.request.complete === false ? lastExchange.response : undefined;
    const isDone = () =>
      this.pendingResponses === (incompleteResponse === undefined || incompleteResponse.writableFinished ? 0 : 1);
    await new Promise<void>((resolve) => {
      this.onResponse = () => {
        if (isDone()) {
          resolve();
        }
      };
      this.onResponse();
    });
    return incompleteResponse;
  }

  private finish(): void {
    this.pendingResponses--;
    this.onResponse();
    if (this.pendingResponses === 0 && this.lastExchange?.request.complete === true) {
      // Otherwise, idle connections would keep their last exchanges alive.
      this.lastExchange = undefined;
      if (this.pacing.isBusy) {
        this.pause();
      }
    }
    if (this.waiting.length > 0) {
      this.pacing.continueLater(() => {
        this.handleNext();
      });
    } else if (this.isPausedHere) {
      this.isPausedHere = false;
      this.pacing.continueLater(() => this.socket.resume());
    }
  }

  private handleNext(): void {
    const handleRequest = this.waiting.shift();
    if (handleRequest !== undefined) {
      Connection.totalWaiting--;
      handleRequest();
    }
  }

  /** Takes over the connection from Node's parser, and feeds the parser one request at a time. */
  private intercept(): void {
    if (this.isIntercepted) {
      return;
    }
    this.isIntercepted = true;
    const { socket } = this;
    const parsers = socket.listeners('data') as DataListener[];
    // With this listener, Node no longer lets the parser read the connection.
    socket.on('data', (bytes: Buffer) => {
      this.read(bytes, parsers);
    });
    parsers.forEach((parse) => socket.off('data', parse));
    socket.once('close', () => {
      Connection.totalWaiting -= this.waiting.splice(0).length;
    });
  }

  private pause(): void {
    if (!this.socket.isPaused()) {
      this.isPausedHere = true;
      this.socket.pause();
    }
  }

  /** Whether the next request has to wait; the body of the current one must not. */
  private get isBusy(): boolean {
    return this.pendingResponses > 0 && this.lastExchange?.request.complete === true;
  }

  /** Passes the bytes to the parser, one request at a time. */
  private read(bytes: Buffer, parsers: readonly DataListener[]): void {
    this.isPausedHere = false;
    let rest = bytes;
    while (rest.length > 0 && this.isReading && this.socket.writable) {
      if (this.isBusy || this.socket.isPaused()) {
        this.pause();
        this.socket.unshift(rest);
        return;
      }
      const end = rest.indexOf(END_OF_HEADERS);
      const length = end === -1 ? rest.length : end + END_OF_HEADERS.length;
      const next = rest.subarray(0, length);
      rest = rest.subarray(length);
      parsers.forEach((parse) => {
        parse(next);
      });
    }
  }
}
