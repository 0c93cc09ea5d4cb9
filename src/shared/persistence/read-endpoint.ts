import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool } from 'pg';
import { BRAND } from '../../config/brand';
import { InvalidSettingsError, Settings } from '../../config/settings';
import { getErrorMessage } from '../domain/error-message';
import { DATABASE_SETTINGS } from './database-settings';
import { createServerUrl } from './server-connection';
import { CONNECT_TIMEOUT_MS, createServerPoolOptions } from './session';
import { createPool, type Parameter, type Row, type Statement, Statements } from './statements';
import { TypeOrmUnitOfWork } from './typeorm-unit-of-work';
import { logEvent } from '../log-events';

/** The endpoint is checked at this interval, or four times per maximum lag if that is more often. */
const MAX_CHECK_INTERVAL_MS = 1_000;
const CHECKS_PER_MAX_LAG = 4;
/** A slower standby is not used, so that the request can still be served from the primary in time. */
const READ_TIMEOUT_MS = 500;

/** What a primary and its standbys have in common: the identifier of the cluster and the OID of the database. */
const IDENTITY = `concat(system_identifier, '/', oid) AS identity
  FROM pg_control_system(), pg_database WHERE datname = current_database()`;
/**
 * Reads the end of the last record that the primary wrote, not the start of the next one: if a record ends at a page boundary, the
 * next one starts after the header of the next page, which a standby does not reach while nothing is written.
 */
const CURRENT_WAL_POSITION = {
  name: 'wal_written',
  isUrgent: true,
  text: `SELECT pg_current_wal_lsn(), ${IDENTITY}`,
  columns: ['pg_current_wal_lsn', 'identity'],
} as const;
const CHECK = { name: 'read_endpoint_check', text: `SELECT ${IDENTITY}`, columns: ['identity'] };

/** A position in the write-ahead log that includes everything the primary had written by the time `at` (ms). */
interface Sample {
  readonly at: number;
  readonly position: bigint;
  /** See IDENTITY. */
  readonly identity: unknown;
}

/**
 * Reads from the standbys at `DATABASE_READ_URL` if their rows are recent enough. Each result includes the replay position of its
 * server, because a proxy may connect to a different standby each time. If a read fails or is too stale, it is repeated on the
 * primary, and the endpoint is not used until a check succeeds.
 */
@Injectable()
export class ReadEndpoint implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ReadEndpoint.name);
  private readonly connect: (() => Pool) | undefined;
  private readonly maxLagMs: number;
  private pool: Pool | undefined;
  /** Samples, oldest first. */
  private samples: Sample[] = [];
  private readonly statementsWithPosition = new Map<Statement, Statement>();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  /** undefined before the first check. */
  private state: 'enabled' | 'disabled' | undefined;

  /** @throws InvalidSettingsError */
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: TypeOrmUnitOfWork,
    settings: Settings,
  ) {
    const { readUrl, readMaxLagMs, poolMax } = settings.get(DATABASE_SETTINGS);
    this.maxLagMs = readMaxLagMs;
    if (readUrl === undefined) {
      return;
    }
    if (settings.databaseUrl === undefined) {
      throw new InvalidSettingsError('DATABASE_READ_URL has no effect without DATABASE_URL: set both.');
    }
    const options = {
      connectionString: createServerUrl('DATABASE_READ_URL', readUrl, settings),
      application_name: BRAND.name,
      max: poolMax,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...createServerPoolOptions(settings, 'any'),
      query_timeout: READ_TIMEOUT_MS,
    };
    this.connect = () => createPool(options);
  }

  /** Whether reads use the endpoint instead of the primary. */
  get isEnabled(): boolean {
    return this.state === 'enabled';
  }

  onApplicationBootstrap(): void {
    if (this.connect !== undefined) {
      void this.checkRepeatedly(this.connect);
    }
  }

  onApplicationShutdown(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.disconnect();
  }

  /**
   * Runs a statement that returns at least one row and may read stale data. In a transaction, it reads from the primary.
   * @throws ServiceUnavailableError
   */
  read(statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    const { pool } = this;
    return pool !== undefined && this.isEnabled && this.unitOfWork.transaction === undefined
      ? this.readWithFallback(pool, statement, parameters)
      : this.statements.read(statement, parameters);
  }

  private async readWithFallback(pool: Pool, statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    const result = await this.tryRead(pool, statement, parameters);
    if (typeof result !== 'string') {
      return result;
    }
    // If this fails too, as while a table is locked, the endpoint is not the cause.
    const rows = await this.statements.read(statement, parameters);
    this.disable(pool, result);
    return rows;
  }

  /** @returns the rows, or the reason why the endpoint cannot be used */
  private async tryRead(pool: Pool, statement: Statement, parameters: Parameter[]): Promise<Row[] | string> {
    try {
      const rows = await this.statements.readFrom(pool, this.addPosition(statement), parameters);
      const position = rows[0]?.at(-1);
      if (typeof position !== 'string') {
        // The rows of a former primary, for example, may be of any age.
        return 'the server is not a standby';
      }
      return this.isFresh(parsePosition(position)) ? rows : `the standby lags by more than ${this.maxLagMs} ms`;
    } catch (error) {
      return getErrorMessage(error);
    }
  }

  /** Adds a last column to a statement: the replay position of a standby; null on another server. */
  private addPosition(statement: Statement): Statement {
    let withPosition = this.statementsWithPosition.get(statement);
    if (withPosition === undefined) {
      const text = `SELECT *, CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END AS replay_position FROM (${statement.text}) AS read`;
      withPosition = { ...statement, text, columns: [...statement.columns, 'replay_position'] };
      this.statementsWithPosition.set(statement, withPosition);
    }
    return withPosition;
  }

  /** Whether a server that has replayed up to the position lags by at most the maximum. */
  private isFresh(position: bigint): boolean {
    const reached = this.samples.findLast((sample) => sample.position <= position);
    return reached !== undefined && performance.now() - reached.at <= this.maxLagMs;
  }

  private async checkRepeatedly(connect: () => Pool): Promise<void> {
    // Without a sample, no result can be known to be fresh.
    if (this.samples.length > 0) {
      await this.check((this.pool ??= connect()));
    }
    await this.samplePosition();
    if (!this.isStopped) {
      const intervalMs = Math.min(MAX_CHECK_INTERVAL_MS, this.maxLagMs / CHECKS_PER_MAX_LAG);
      this.timer = setTimeout(() => void this.checkRepeatedly(connect), intervalMs).unref();
    }
  }

  private async check(pool: Pool): Promise<void> {
    const result = await this.tryRead(pool, CHECK, []);
    if (typeof result === 'string') {
      this.disable(pool, result);
    } else if (result[0]?.[0] !== this.samples.at(-1)?.identity) {
      this.disable(pool, 'the server is a standby of another database');
    } else if (this.pool === pool && !this.isEnabled) {
      // No concurrent read has disabled the endpoint in the meantime.
      this.state = 'enabled';
      logEvent(this.logger, 'read_endpoint_enabled', 'Listings are read from DATABASE_READ_URL.');
    }
  }

  private async samplePosition(): Promise<void> {
    const at = performance.now();
    try {
      const [row] = await this.statements.read(CURRENT_WAL_POSITION, []);
      const isUseful = (sample: Sample) => at - sample.at <= this.maxLagMs;
      const sample = { at, position: parsePosition(String(row?.[0])), identity: row?.[1] };
      this.samples = [...this.samples.filter(isUseful), sample];
    } catch {
      // While the primary is unavailable, the samples expire, and the endpoint is no longer used.
    }
  }

  private disable(pool: Pool, reason: string): void {
    // Concurrent reads on the same connections fail too.
    if (this.pool !== pool || this.isStopped) {
      return;
    }
    this.disconnect();
    if (this.state !== 'disabled') {
      this.state = 'disabled';
      const message = `Listings are read from the primary, not from DATABASE_READ_URL (${reason}).`;
      logEvent(this.logger, 'read_endpoint_disabled', message, { reason });
    }
  }

  /** Closes the connections. New ones may point to another server. */
  private disconnect(): void {
    void this.pool?.end();
    this.pool = undefined;
  }
}

/** Reads a position as PostgreSQL writes it, such as `16/B374D848`. */
function parsePosition(text: string): bigint {
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
