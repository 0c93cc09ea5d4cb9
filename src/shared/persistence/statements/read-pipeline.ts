import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import { ServiceUnavailableError } from '../../domain/pet-store-error';
import { getErrorCode } from '../../domain/error-message';
import { type Parameter, query, type QueryOptions, type ReadStatement, type Row } from './statement';
import { isDatabaseUnavailable } from '../unavailable-error';

const CHECK_INTERVAL_MS = 50;
/** After 50 to 100 ms without a response, the statements behind the first one move to another connection. */
const STALLED_CHECKS = 2;
/**
 * A connection is dead if it does not respond for this long after the statement timeout, at which PostgreSQL cancels the
 * statement.
 */
const DEAD_CONNECTION_MARGIN_CHECKS = 2;
/** How much longer than the statement timeout a statement may take, including its wait for earlier statements. */
const EXPIRY_MARGIN_CHECKS = 8;
/**
 * How long a statement may wait while there is no connection: slightly longer than an attempt to connect may take, so that statements
 * that arrive during an attempt get another.
 */
const MAX_CONNECTING_CHECKS = 16;
/** How many lost connections a statement survives before it fails. */
const MAX_RETRIES = 2;
/** After this long, a connection returns briefly to the pool, which closes it once its lifetime is over. */
const MAX_HELD_MS = 60_000;
/** The pipeline detects overdue responses itself before `pg` does, whose timeout includes the wait for earlier statements. */
const QUERY_TIMEOUT_MARGIN_MS = 4_000;

/** The statement itself or its lock took too long, so it would fail on another connection as well. */
const TIMED_OUT = new Set<string | undefined>(['57014', '55P03']);

interface Read {
  readonly statement: ReadStatement;
  readonly parameters: Parameter[];
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
  readonly expiresAtCheck: number;
  waitingSinceCheck: number;
  retries: number;
  /** The connection that will respond; undefined while waiting for one, and once expired. */
  connection: Connection | undefined;
}

/** A pool connection held by a pipeline. */
class Connection {
  /** The statements in the order of their responses. Not a Set, for the reason given in batcher.ts. */
  readonly sent: Read[] = [];
  checksWithoutResponse = 0;
  /** Accepts no more statements, and is released after the last response. */
  isDraining = false;
  /** Has statements whose responses are no longer needed, so it is closed instead of reused. */
  isAbandoned = false;
  private isCorked = false;
  private readonly heldSince = performance.now();

  constructor(
    readonly client: PoolClient,
    private readonly onEnd: (connection: Connection) => void,
  ) {
    client.once('end', this.end);
  }

  get isDueForRelease(): boolean {
    return performance.now() - this.heldSince >= MAX_HELD_MS;
  }

  get isFree(): boolean {
    return !this.isDraining && this.checksWithoutResponse < STALLED_CHECKS;
  }

  /** Sends the statements of one event-loop tick in one packet. */
  corkUntilNextTick(): void {
    if (this.isCorked) {
      return;
    }
    this.isCorked = true;
    const { socket } = this;
    socket.cork();
    setImmediate(() => {
      this.isCorked = false;
      socket.uncork();
    });
  }

  remove(read: Read): void {
    const index = this.sent.indexOf(read);
    if (index !== -1) {
      this.sent.splice(index, 1);
    }
  }

  release(): void {
    this.client.off('end', this.end);
    if (this.isAbandoned) {
      // No Terminate message: PostgreSQL would first process all statements that were sent.
      this.socket.destroy();
    }
    this.client.release(this.isAbandoned);
  }

  private readonly end = (): void => {
    this.onEnd(this);
  };

  private get socket(): Socket {
    return (this.client as unknown as { connection: { stream: Socket } }).connection.stream;
  }
}

/**
 * Pipelines statements: it sends them without waiting for earlier responses, normally on one connection. Statements behind a slow
 * one move to other connections, up to a third of the pool, so that two stalled pipelines leave connections for other work.
 * Statements on a lost connection are sent again.
 */
export class ReadPipeline {
  private readonly connections: Connection[] = [];
  private waiting: Read[] = [];
  private isConnecting = false;
  /** Why there is no connection, once an attempt has failed. */
  private connectError: unknown;
  private isClosed = false;
  private checks = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly options: QueryOptions;
  private readonly timeoutChecks: number;
  private readonly maxConnections: number;

  constructor(
    private readonly pool: Pool,
    { isPrepared, statementTimeoutMs }: { readonly isPrepared: boolean; readonly statementTimeoutMs: number },
  ) {
    this.options = { isPrepared, query_timeout: statementTimeoutMs + QUERY_TIMEOUT_MARGIN_MS };
    this.maxConnections = Math.max(2, Math.floor(pool.options.max / 3));
    this.timeoutChecks = Math.ceil(statementTimeoutMs / CHECK_INTERVAL_MS);
  }

  query(statement: ReadStatement, parameters: Parameter[]): Promise<Row[]> {
    this.timer ??= setInterval(() => {
      this.check();
    }, CHECK_INTERVAL_MS).unref();
    return new Promise((resolve, reject) => {
      this.dispatch({
        statement,
        parameters,
        resolve,
        reject,
        expiresAtCheck: this.checks + this.timeoutChecks + EXPIRY_MARGIN_CHECKS,
        waitingSinceCheck: this.checks,
        retries: 0,
        connection: undefined,
      });
    });
  }

  /**
   * Releases the connections to the pool.
   * @param force whether to close them first, so that statements without a response fail immediately
   */
  close({ force = false } = {}): void {
    this.isClosed = true;
    clearInterval(this.timer);
    [...this.connections].forEach((connection) => {
      connection.isAbandoned ||= force;
      this.release(connection);
    });
    this.waiting.splice(0).forEach((read) => {
      this.dispatch(read);
    });
  }

  private dispatch(read: Read): void {
    if (this.isClosed) {
      read.reject(new ServiceUnavailableError(new Error('The connections for reading are closed')));
      return;
    }
    const connection = this.connections.find(({ isFree }) => isFree);
    if (connection === undefined) {
      read.waitingSinceCheck = this.checks;
      this.waiting.push(read);
      void this.connect();
    } else {
      this.send(read, connection);
    }
  }

  private send(read: Read, connection: Connection): void {
    read.connection = connection;
    connection.sent.push(read);
    connection.corkUntilNextTick();
    query(connection.client, read.statement, read.parameters, this.options).then(
      (rows) => {
        if (read.connection === connection) {
          read.resolve(rows);
        }
        this.onResponse(read, connection);
      },
      (error: unknown) => {
        if (read.connection === connection) {
          this.onError(read, connection, error);
        }
        this.onResponse(read, connection);
      },
    );
  }

  private onError(read: Read, connection: Connection, error: unknown): void {
    if (!isDatabaseUnavailable(error) || TIMED_OUT.has(getErrorCode(error))) {
      read.reject(error);
      return;
    }
    this.discard(connection);
    read.retries++;
    if (read.retries > MAX_RETRIES) {
      read.reject(error);
    } else {
      this.dispatch(read);
    }
  }

  private onResponse(read: Read, connection: Connection): void {
    const wasFree = connection.isFree;
    connection.remove(read);
    connection.checksWithoutResponse = 0;
    if (connection.isDraining && connection.sent.length === 0) {
      this.release(connection);
    }
    if (!wasFree && this.waiting.length > 0) {
      this.dispatchWaiting();
    }
  }

  private dispatchWaiting(): void {
    this.waiting.splice(0).forEach((read) => {
      this.dispatch(read);
    });
  }

  private async connect(): Promise<void> {
    if (this.isConnecting || this.connections.length >= this.maxConnections) {
      return;
    }
    this.isConnecting = true;
    const lastWaiting = this.waiting.at(-1);
    try {
      const client = await this.pool.connect();
      this.isConnecting = false;
      this.connectError = undefined;
      if (this.isClosed) {
        client.release();
        return;
      }
      this.connections.push(
        new Connection(client, (connection) => {
          this.discard(connection);
        }),
      );
      this.dispatchWaiting();
    } catch (error) {
      this.isConnecting = false;
      // If a connection remains, the pool may only be exhausted: statements wait until they expire.
      if (this.connections.length === 0) {
        this.connectError = error;
        const index = this.waiting.findIndex((read) => read === lastWaiting);
        this.waiting.splice(0, index + 1).forEach(({ reject }) => {
          reject(error);
        });
        // The database may have become available since this attempt began, so statements that arrived later get another.
        if (this.waiting.length > 0) {
          void this.connect();
        }
      }
    }
  }

  private check(): void {
    this.checks++;
    [...this.connections].forEach((connection, index) => {
      this.checkConnection(connection, index > 0);
    });
    this.rejectExpired();
    if (this.waiting.length > 0) {
      void this.connect();
    } else if (this.connections.every(({ sent }) => sent.length === 0)) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }

  private checkConnection(connection: Connection, isExtra: boolean): void {
    const isIdle = connection.sent.length === 0;
    connection.isDraining ||= connection.isDueForRelease || (isExtra && isIdle);
    if (isIdle) {
      if (connection.isDraining) {
        this.release(connection);
      }
      return;
    }
    connection.checksWithoutResponse++;
    if (connection.checksWithoutResponse === STALLED_CHECKS) {
      this.moveAllButFirst(connection);
    } else if (connection.checksWithoutResponse >= this.timeoutChecks + DEAD_CONNECTION_MARGIN_CHECKS) {
      this.discard(connection);
    }
  }

  private moveAllButFirst(connection: Connection): void {
    const followingReads = connection.sent.slice(1);
    if (followingReads.length === 0) {
      return;
    }
    connection.isDraining = true;
    connection.isAbandoned = true;
    followingReads.forEach((read) => {
      connection.remove(read);
      // An expired statement is not sent again.
      if (read.connection === connection) {
        read.connection = undefined;
        this.dispatch(read);
      }
    });
  }

  private rejectExpired(): void {
    const isExpired = ({ expiresAtCheck, waitingSinceCheck }: Read) =>
      expiresAtCheck <= this.checks ||
      (this.connections.length === 0 && waitingSinceCheck + MAX_CONNECTING_CHECKS <= this.checks);
    const expired = this.connections
      .flatMap(({ sent }) => sent)
      .concat(this.waiting)
      .filter(isExpired);
    if (expired.length > 0) {
      this.waiting = this.waiting.filter((read) => !isExpired(read));
      const error =
        this.connectError ??
        new ServiceUnavailableError(
          new Error('The statement waited too long for earlier statements or for its own response'),
        );
      expired.forEach((read) => {
        read.connection = undefined;
        read.reject(error);
      });
    }
  }

  /** Releases a lost connection. Its statements fail and are sent again on another. */
  private discard(connection: Connection): void {
    connection.isAbandoned = true;
    this.release(connection);
  }

  private release(connection: Connection): void {
    const index = this.connections.indexOf(connection);
    if (index === -1) {
      return;
    }
    this.connections.splice(index, 1);
    connection.release();
  }
}
