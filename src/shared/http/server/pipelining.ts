import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many connections continue with a waiting request in each event-loop tick. */
const CONTINUED_PER_TICK = 8;
/** How many parsed requests may wait on all connections together: about 10 MB. Connections with more are closed. */
const MAX_WAITING = 2_000;
/** How long input is still read and discarded before the connection is closed. */
const LINGER_MS = 1_000;
export const END_OF_HEADERS = '\r\n\r\n';

type Parse = (bytes: Buffer) => void;
type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const connections = new WeakMap<Socket, Connection>();

/**
 * Bounds the cost of pipelining. Node parses all requests that arrive together at once, thousands in one read, handles them
 * concurrently, and keeps reading until their responses fill a buffer. Here a connection has one request in progress. From
 * the first request that arrives too early, the following ones wait as bytes, and the rest in the client, until responses
 * have been sent and received.
 *
 * Until then, Node's parser reads the connection itself. Reading all connections through streams took 15 to 20% of the
 * CPU time of a request.
 */
export function limitPipelining(server: Server): void {
  const handlers = server.listeners('request') as Handle[];
  server.removeAllListeners('request');
  const handle: Handle = (request, response) => {
    handlers.forEach((each) => {
      each.call(server, request, response);
    });
  };
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket, handle));
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

const continuations: (() => void)[] = [];

/** Lets requests of clients that do not pipeline pass the waiting ones. */
function continueLater(continuation: () => void): void {
  if (continuations.push(continuation) === 1) {
    setImmediate(continueNext);
  }
}

function continueNext(): void {
  continuations.splice(0, CONTINUED_PER_TICK).forEach((continuation) => {
    continuation();
  });
  if (continuations.length > 0) {
    setImmediate(continueNext);
  }
}

/** The requests of one connection. */
class Connection {
  private static totalWaiting = 0;

  /** Requests that were parsed with an earlier one, before the connection was intercepted. */
  private readonly waiting: Exchange[] = [];
  /** How many requests, in progress or waiting, have no complete response. */
  private unfinished = 0;
  private isReading = true;
  private isIntercepted = false;
  /** Whether it was paused here and not by Node, which resumes what it paused itself. */
  private isHeld = false;
  private last: Exchange | undefined;
  private onResponse: () => void = () => undefined;

  constructor(
    private readonly socket: Socket,
    private readonly handle: Handle,
  ) {}

  /** Handles a request after the responses to all earlier ones. */
  accept(exchange: Exchange): void {
    this.last = exchange;
    this.unfinished++;
    exchange.response.on('finish', () => {
      this.finish();
    });
    if (this.unfinished === 1) {
      this.handle(exchange.request, exchange.response);
      return;
    }
    this.intercept();
    this.hold();
    if (Connection.totalWaiting === MAX_WAITING) {
      this.socket.destroy();
    } else if (!this.socket.destroyed) {
      Connection.totalWaiting++;
      this.waiting.push(exchange);
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
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  /** Waits for the responses to all complete requests. @returns the response of the incomplete request, if there is one */
  async responses(): Promise<ServerResponse | undefined> {
    const { last } = this;
    const broken = last?.request.complete === false ? last.response : undefined;
    const isDone = () => this.unfinished === (broken === undefined || broken.writableFinished ? 0 : 1);
    await new Promise<void>((resolve) => {
      this.onResponse = () => {
        if (isDone()) {
          resolve();
        }
      };
      this.onResponse();
    });
    return broken;
  }

  private finish(): void {
    this.unfinished--;
    this.onResponse();
    if (this.waiting.length > 0) {
      continueLater(() => {
        this.handleNext();
      });
    } else if (this.isHeld) {
      this.isHeld = false;
      continueLater(() => this.socket.resume());
    }
  }

  private handleNext(): void {
    const next = this.waiting.shift();
    if (next !== undefined) {
      Connection.totalWaiting--;
      this.handle(next.request, next.response);
    }
  }

  /** Takes the connection from Node's parser, to pass it one request at a time. */
  private intercept(): void {
    if (this.isIntercepted) {
      return;
    }
    this.isIntercepted = true;
    const { socket } = this;
    const parsers = socket.listeners('data') as Parse[];
    // With this listener, Node no longer lets the parser read the connection.
    socket.on('data', (bytes: Buffer) => {
      this.read(bytes, parsers);
    });
    parsers.forEach((parse) => socket.off('data', parse));
    socket.once('close', () => {
      Connection.totalWaiting -= this.waiting.splice(0).length;
    });
  }

  private hold(): void {
    if (!this.socket.isPaused()) {
      this.isHeld = true;
      this.socket.pause();
    }
  }

  /** Whether the next request has to wait; the body of the current one must not. */
  private get isBusy(): boolean {
    return this.unfinished > 0 && this.last?.request.complete === true;
  }

  /** Passes the bytes to the parser, one request at a time. */
  private read(bytes: Buffer, parsers: readonly Parse[]): void {
    this.isHeld = false;
    let rest = bytes;
    while (rest.length > 0 && this.isReading && this.socket.writable) {
      if (this.isBusy || this.socket.isPaused()) {
        this.hold();
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
