import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import { ServiceUnavailableError } from '../../domain/pet-store-error';
import { sqlState } from '../postgres-client';
import { type Parameter, query, type QueryOptions, type ReadStatement, type Row } from './statement';
import { isDatabaseUnavailable } from '../unavailable';

const TICK_MS = 50;
/** After 50 to 100 ms without a response, the statements behind the first one move to another connection. */
const STALLED_TICKS = 2;
/** PostgreSQL cancels a statement after the timeout, so a connection without a response for longer is dead. */
const DEAD_AFTER_TIMEOUT_TICKS = 2;
/** How long a statement may take beyond the timeout, including its wait for earlier statements. */
const PATIENCE_AFTER_TIMEOUT_TICKS = 8;
/** How many lost connections a statement survives before it fails. */
const MAX_LOSSES = 2;
/** After this long, a connection returns briefly to the pool, which closes it once its lifetime is over. */
const HELD_MS = 60_000;
/** The pipeline detects overdue responses itself: `pg` would include the wait for earlier statements. */
const QUERY_TIMEOUT_AFTER_TIMEOUT_MS = 4_000;

/** The statement itself or its lock took too long, so it would fail on another connection as well. */
const TIMED_OUT = new Set<string | undefined>(['57014', '55P03']);

interface Read {
  readonly statement: ReadStatement;
  readonly parameters: Parameter[];
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
  readonly expiresAtTick: number;
  losses: number;
  /** The connection that will respond; undefined while waiting for one, and once settled. */
  connection: Connection | undefined;
}

/** A pool connection held by a pipeline. */
class Connection {
  /** The statements in the order of their responses. Not a Set, for the reason given in batches.ts. */
  readonly sent: Read[] = [];
  ticksWithoutResponse = 0;
  /** Accepts no more statements, and is released after the last response. */
  isLeaving = false;
  /** Has statements whose responses are no longer needed, so it is closed instead of reused. */
  isAbandoned = false;
  private isGathering = false;
  private readonly heldSince = performance.now();

  constructor(
    readonly client: PoolClient,
    private readonly onEnd: (connection: Connection) => void,
  ) {
    client.once('end', this.end);
  }

  get isOverdue(): boolean {
    return performance.now() - this.heldSince >= HELD_MS;
  }

  get isFree(): boolean {
    return !this.isLeaving && this.ticksWithoutResponse < STALLED_TICKS;
  }

  /** Sends the statements of one event-loop tick in one packet. */
  gather(): void {
    if (this.isGathering) {
      return;
    }
    this.isGathering = true;
    const { socket } = this;
    socket.cork();
    setImmediate(() => {
      this.isGathering = false;
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
 * Pipelines statements that read one table: it sends them without waiting for earlier responses, normally on one
 * connection. Statements behind a slow one move to other connections, up to a third of the pool, so that
 * two stalled pipelines leave connections for other work.
 * Statements on a lost connection are sent again.
 */
export class ReadPipeline {
  private readonly connections: Connection[] = [];
  private waiting: Read[] = [];
  private isConnecting = false;
  private isClosed = false;
  private ticks = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly options: QueryOptions;
  private readonly timeoutTicks: number;
  private readonly maxConnections: number;

  constructor(
    private readonly pool: Pool,
    { isPrepared, statementTimeoutMs }: { readonly isPrepared: boolean; readonly statementTimeoutMs: number },
  ) {
    this.options = { isPrepared, query_timeout: statementTimeoutMs + QUERY_TIMEOUT_AFTER_TIMEOUT_MS };
    this.maxConnections = Math.max(2, Math.floor(pool.options.max / 3));
    this.timeoutTicks = Math.ceil(statementTimeoutMs / TICK_MS);
  }

  query(statement: ReadStatement, parameters: Parameter[]): Promise<Row[]> {
    this.timer ??= setInterval(() => {
      this.tick();
    }, TICK_MS).unref();
    return new Promise((resolve, reject) => {
      const expiresAtTick = this.ticks + this.timeoutTicks + PATIENCE_AFTER_TIMEOUT_TICKS;
      this.dispatch({ statement, parameters, resolve, reject, expiresAtTick, losses: 0, connection: undefined });
    });
  }

  /**
   * Releases the connections to the pool.
   * @param isAbandoned whether to close them first, so that what waits for a response fails immediately
   */
  close(isAbandoned = false): void {
    this.isClosed = true;
    clearInterval(this.timer);
    [...this.connections].forEach((connection) => {
      connection.isAbandoned ||= isAbandoned;
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
      this.waiting.push(read);
      void this.connect();
    } else {
      this.send(read, connection);
    }
  }

  private send(read: Read, connection: Connection): void {
    read.connection = connection;
    connection.sent.push(read);
    connection.gather();
    query(connection.client, read.statement, read.parameters, this.options).then(
      (rows) => {
        if (read.connection === connection) {
          read.resolve(rows);
        }
        this.onResponse(read, connection);
      },
      (error: unknown) => {
        if (read.connection === connection) {
          this.fail(read, connection, error);
        }
        this.onResponse(read, connection);
      },
    );
  }

  private fail(read: Read, connection: Connection, error: unknown): void {
    if (!isDatabaseUnavailable(error) || TIMED_OUT.has(sqlState(error))) {
      read.reject(error);
      return;
    }
    this.lose(connection);
    read.losses++;
    if (read.losses > MAX_LOSSES) {
      read.reject(error);
    } else {
      this.dispatch(read);
    }
  }

  private onResponse(read: Read, connection: Connection): void {
    const wasFree = connection.isFree;
    connection.remove(read);
    connection.ticksWithoutResponse = 0;
    if (connection.isLeaving && connection.sent.length === 0) {
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
    try {
      const client = await this.pool.connect();
      this.isConnecting = false;
      if (this.isClosed) {
        client.release();
        return;
      }
      this.connections.push(
        new Connection(client, (connection) => {
          this.lose(connection);
        }),
      );
      this.dispatchWaiting();
    } catch (error) {
      this.isConnecting = false;
      // If a connection remains, the pool may only be exhausted: statements wait until they expire.
      if (this.connections.length === 0) {
        this.waiting.splice(0).forEach(({ reject }) => {
          reject(error);
        });
      }
    }
  }

  private tick(): void {
    this.ticks++;
    [...this.connections].forEach((connection, index) => {
      this.checkConnection(connection, index > 0);
    });
    this.expire();
    if (this.waiting.length > 0) {
      void this.connect();
    } else if (this.connections.every(({ sent }) => sent.length === 0)) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }

  private checkConnection(connection: Connection, isExtra: boolean): void {
    const isIdle = connection.sent.length === 0;
    connection.isLeaving ||= connection.isOverdue || (isExtra && isIdle);
    if (isIdle) {
      if (connection.isLeaving) {
        this.release(connection);
      }
      return;
    }
    connection.ticksWithoutResponse++;
    if (connection.ticksWithoutResponse === STALLED_TICKS) {
      this.moveAllButFirst(connection);
    } else if (connection.ticksWithoutResponse >= this.timeoutTicks + DEAD_AFTER_TIMEOUT_TICKS) {
      this.lose(connection);
    }
  }

  private moveAllButFirst(connection: Connection): void {
    const behind = connection.sent.slice(1);
    if (behind.length === 0) {
      return;
    }
    connection.isLeaving = true;
    connection.isAbandoned = true;
    behind.forEach((read) => {
      connection.remove(read);
      // A settled statement stays on the old connection.
      if (read.connection === connection) {
        read.connection = undefined;
        this.dispatch(read);
      }
    });
  }

  private expire(): void {
    const isExpired = ({ expiresAtTick }: Read) => expiresAtTick <= this.ticks;
    const expired = this.connections
      .flatMap(({ sent }) => sent)
      .concat(this.waiting)
      .filter(isExpired);
    if (expired.length > 0) {
      this.waiting = this.waiting.filter((read) => !isExpired(read));
      const error = new ServiceUnavailableError(
        new Error('The statement waited too long for earlier statements and its response'),
      );
      expired.forEach((read) => {
        read.connection = undefined;
        read.reject(error);
      });
    }
  }

  /** Releases a lost connection. Its statements fail and are sent again on another. */
  private lose(connection: Connection): void {
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
