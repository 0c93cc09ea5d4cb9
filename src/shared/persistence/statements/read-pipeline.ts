import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import { ServiceUnavailableError } from '../../domain/pet-store-error';
import { sqlState } from '../postgres-client';
import { type Parameter, query, type QueryOptions, type ReadStatement, type Row } from './statement';
import { isDatabaseUnavailable } from '../unavailable';

const TICK_MS = 50;
/** Without a response for 50 to 100 ms, what waits behind the first statement moves to another connection. */
const STALLED_TICKS = 2;
/** PostgreSQL ends a statement after the timeout: a connection without a response for longer leads nowhere. */
const DEAD_AFTER_TIMEOUT_TICKS = 2;
/** How long a statement may take beyond the timeout, with its wait for those before it. */
const PATIENCE_AFTER_TIMEOUT_TICKS = 8;
/** How many connections a statement may lose before it fails. */
const MAX_LOSSES = 2;
/** After this long a connection goes back to the pool for a moment, which closes it at the end of its lifetime. */
const HELD_MS = 60_000;
/** The pipeline itself says when a response is overdue: `pg` would count the wait behind other statements too. */
const QUERY_TIMEOUT_AFTER_TIMEOUT_MS = 4_000;

/** The statement itself took too long, or waited too long for a lock: on another connection it would again. */
const TIMED_OUT = new Set<string | undefined>(['57014', '55P03']);

interface Read {
  readonly statement: ReadStatement;
  readonly parameters: Parameter[];
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
  readonly expiresAtTick: number;
  losses: number;
  /** Where its response is expected from; none while it waits for a connection, and once it is settled. */
  connection: Connection | undefined;
}

/** A connection of the pool that a pipeline has for itself. */
class Connection {
  /** In the order of the responses. */
  readonly sent = new Set<Read>();
  ticksWithoutResponse = 0;
  /** It gets no more statements, and is given back after the last response. */
  isLeaving = false;
  /** It carries statements whose responses nobody waits for, so it is closed rather than used again. */
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

  /** Sends what comes in one turn of the event loop in one packet. */
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

  giveBack(): void {
    this.client.off('end', this.end);
    if (this.isAbandoned) {
      // Without a farewell, before which PostgreSQL would work through all that was sent.
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
 * Sends statements that read one table without waiting for the responses to those before, on one connection while all is
 * well. What is stuck behind a slow statement moves to another connection, up to a number that leaves the pool usable, and
 * what was on a connection that is lost is sent again.
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

  constructor(
    private readonly pool: Pool,
    private readonly maxConnections: number,
    { isPrepared, statementTimeoutMs }: { readonly isPrepared: boolean; readonly statementTimeoutMs: number },
  ) {
    this.options = { isPrepared, query_timeout: statementTimeoutMs + QUERY_TIMEOUT_AFTER_TIMEOUT_MS };
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
   * Gives the connections back to the pool.
   * @param isAbandoned whether to close them first, so that what waits for a response fails at once
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
    connection.sent.add(read);
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
    connection.sent.delete(read);
    connection.ticksWithoutResponse = 0;
    if (connection.isLeaving && connection.sent.size === 0) {
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
      // Where a connection is left, the pool may just be used up: what waits has until its time is over.
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
      this.look(connection, index > 0);
    });
    this.expire();
    if (this.waiting.length > 0) {
      void this.connect();
    } else if (this.connections.every(({ sent }) => sent.size === 0)) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }

  private look(connection: Connection, isExtra: boolean): void {
    const isIdle = connection.sent.size === 0;
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
    const behind = [...connection.sent].slice(1);
    if (behind.length === 0) {
      return;
    }
    connection.isLeaving = true;
    connection.isAbandoned = true;
    behind.forEach((read) => {
      connection.sent.delete(read);
      // One that nobody waits for any more stays behind.
      if (read.connection === connection) {
        read.connection = undefined;
        this.dispatch(read);
      }
    });
  }

  private expire(): void {
    const isExpired = ({ expiresAtTick }: Read) => expiresAtTick <= this.ticks;
    const expired = this.connections
      .flatMap(({ sent }) => [...sent])
      .concat(this.waiting)
      .filter(isExpired);
    if (expired.length > 0) {
      this.waiting = this.waiting.filter((read) => !isExpired(read));
      const error = new ServiceUnavailableError(
        new Error('The statement waited too long for others and for its response'),
      );
      expired.forEach((read) => {
        read.connection = undefined;
        read.reject(error);
      });
    }
  }

  /** What was sent on it fails, and is sent again on another. */
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
    connection.giveBack();
  }
}
