import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many connections resume with a waiting request in each event-loop tick. */
const RESUMED_PER_TICK = 8;
/** How long input is still read and discarded before the connection is closed. */
const LINGER_MS = 1_000;
const END_OF_HEADERS = '\r\n\r\n';

type Parse = (bytes: Buffer) => void;

const connections = new WeakMap<Socket, Connection>();

/**
 * Bounds the cost of pipelining. Node parses all requests that arrive together at once, thousands in one read, and keeps
 * reading until their responses fill a buffer. Here the requests behind the first few wait as bytes, and the rest in the
 * client, until responses have been sent and received.
 */
export function limitPipelining(server: Server): void {
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket));
  });
  server.prependListener('request', (request, response) => {
    connections.get(request.socket)?.start(request, response);
  });
}

/** Stops reading from a connection. @returns undefined if it was already stopped */
export function stopReading(socket: Socket): Connection | undefined {
  const connection = connections.get(socket);
  return connection?.stopReading() ? connection : undefined;
}

const waiting: Socket[] = [];

/** Lets requests of clients that do not pipeline pass the waiting ones. */
function resumeLater(socket: Socket): void {
  if (waiting.push(socket) === 1) {
    setImmediate(resumeNext);
  }
}

function resumeNext(): void {
  waiting.splice(0, RESUMED_PER_TICK).forEach((socket) => socket.resume());
  if (waiting.length > 0) {
    setImmediate(resumeNext);
  }
}

/** The requests of one connection. */
class Connection {
  private inProgress = 0;
  private isReading = true;
  /** Whether it was paused here and not by Node, which resumes what it paused itself. */
  private isHeld = false;
  private last: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
  private onResponse: () => void = () => undefined;

  constructor(private readonly socket: Socket) {
    // The listeners of Node's HTTP parser.
    const parsers = socket.listeners('data') as Parse[];
    socket.on('data', (bytes: Buffer) => {
      this.read(bytes, parsers);
    });
    parsers.forEach((parse) => socket.off('data', parse));
  }

  start(request: IncomingMessage, response: ServerResponse): void {
    this.inProgress++;
    this.last = { request, response };
    response.on('finish', () => {
      this.inProgress--;
      this.onResponse();
      if (this.isHeld) {
        this.isHeld = false;
        resumeLater(this.socket);
      }
    });
  }

  /** @returns whether it was still reading */
  stopReading(): boolean {
    const wasReading = this.isReading;
    this.isReading = false;
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
    const isDone = () => this.inProgress === (broken === undefined || broken.writableFinished ? 0 : 1);
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

  /** Whether the next request has to wait; the body of the current one must not. */
  private get isBusy(): boolean {
    return this.inProgress > 0 && this.last?.request.complete === true;
  }

  /** Passes the bytes to the parser, one request at a time. */
  private read(bytes: Buffer, parsers: readonly Parse[]): void {
    this.isHeld = false;
    let rest = bytes;
    while (rest.length > 0 && this.isReading && this.socket.writable) {
      if (this.isBusy || this.socket.isPaused()) {
        this.isHeld = !this.socket.isPaused();
        this.socket.pause();
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
