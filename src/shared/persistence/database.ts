import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { InvalidSettingsError, Settings } from '../../config/settings';
import { ServiceUnavailableError } from '../domain/pet-store-error';
import { getErrorMessage } from '../domain/error-message';
import { EmbeddedDatabase } from './embedded/embedded-database';
import { checkSchema, migrate } from './migrate';
import { DATABASE_SETTINGS } from './database-settings';
import { createMigrationOptions } from './server-connection';
import { DatabaseSetupError, isTemporary, MigrationLockedError } from './startup-errors';
import { closeOpenTransactions, getPool } from './session';
import { Statements } from './statements';
import { TypeOrmUnitOfWork } from './typeorm-unit-of-work';
import { logEvent } from '../log-events';

const RETRY_INTERVAL_MS = 1_000;
/** How many times a migration tries to lock its tables before the replica starts to listen: for about 2 s. */
const MAX_LOCK_ATTEMPTS = 10;
/** The interval at which the log repeats why the database is unavailable. */
const REMINDER_INTERVAL_MS = 60_000;

/** Urgent, so that slow statements do not delay the readiness probe. */
const IS_IN_RECOVERY = {
  name: 'in_recovery',
  isUrgent: true,
  text: 'SELECT pg_is_in_recovery()',
  columns: ['pg_is_in_recovery'],
} as const;
/** The parameters that a database role must have behind a pooler in transaction mode, where a session has none of its own. */
const ROLE_TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];

/**
 * Opens the database at startup, migrates it, and closes it after the last request. Without `DATABASE_URL`, it opens the embedded
 * database. Outside development, it retries every second after a temporary failure; meanwhile, the replica is live but not ready.
 */
@Injectable()
export class Database implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Database.name);
  protected embedded: EmbeddedDatabase | undefined;
  private readonly stopping = new AbortController();
  private opening: Promise<void> | undefined;
  /** Those that modules add in their constructors. */
  private readonly subscribers = this.dataSource.subscribers;

  private reportFailure: (error: Error) => void = () => undefined;
  /** Resolves with an error after startup if this process can never use the database again. */
  readonly failure = new Promise<Error>((resolve) => (this.reportFailure = resolve));

  constructor(
    protected readonly settings: Settings,
    protected readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly unitOfWork: TypeOrmUnitOfWork,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.settings.databaseUrl === undefined) {
      this.embedded = await EmbeddedDatabase.open(this.settings.dataDir);
      void this.embedded.crashed.then(this.reportFailure);
    }
    try {
      await this.openDespiteLocks();
    } catch (error) {
      if (this.settings.environment === 'development' || !isTemporary(error)) {
        throw error instanceof InvalidSettingsError ? error : toSetupError(error);
      }
      this.opening = this.retryOpen(error);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.opening;
    await this.unitOfWork.settle();
    await this.statements.close();
    if (this.dataSource.isInitialized) {
      await this.dataSource.destroy();
    }
    await this.embedded?.close();
  }

  /**
   * Checks that the database responds and is a primary, because a standby rejects writes.
   * @throws ServiceUnavailableError
   */
  async checkReadiness(): Promise<void> {
    const [row] = await this.statements.read(IS_IN_RECOVERY, []);
    if (row?.[0] !== false) {
      throw new ServiceUnavailableError(new Error('The database is a standby'));
    }
  }

  /**
   * Opens the database. While other replicas serve requests, a migration may wait for a transaction that waits for the migration. It gives
   * up and tries again at once, because a gateway that does not check readiness sends requests to the replica as soon as it listens.
   */
  private async openDespiteLocks(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.open();
        return;
      } catch (error) {
        if (!(error instanceof MigrationLockedError) || attempt === MAX_LOCK_ATTEMPTS) {
          throw error;
        }
      }
    }
  }

  private async open(): Promise<void> {
    const { options } = this.dataSource;
    if (this.settings.migrateOnStart) {
      const migrations = await migrate(createMigrationOptions(options, this.settings));
      if (migrations.length > 0) {
        migrations.forEach((migration) => {
          logEvent(this.logger, 'migration_applied', 'A migration was applied.', { migration });
        });
        logEvent(this.logger, 'migrated', 'The database schema is now up to date.', { count: migrations.length });
      }
    }
    if (!this.settings.migrateOnStart || this.settings.get(DATABASE_SETTINGS).migrationUrl !== undefined) {
      await checkSchema(options);
    }
    await this.dataSource.initialize();
    closeOpenTransactions(getPool(this.dataSource));
    // TypeORM has replaced the list.
    this.dataSource.subscribers.push(...this.subscribers);
    await this.warnOfMissingTimeouts();
  }

  /** Transactions set their own timeouts, but other statements have only those of the role. */
  private async warnOfMissingTimeouts(): Promise<void> {
    if (this.settings.get(DATABASE_SETTINGS).poolerMode !== 'transaction') {
      return;
    }
    const rows = await this.dataSource.query<{ name: string }[]>(
      'SELECT name FROM pg_settings WHERE name = ANY ($1) AND setting = $2',
      [ROLE_TIMEOUTS, '0'],
    );
    const missing = rows.map(({ name }) => name).sort();
    if (missing.length > 0) {
      const names = missing.join(', ');
      const message = `The database role has no ${names}, which DATABASE_POOLER_MODE=transaction needs: set them with ALTER ROLE.`;
      logEvent(this.logger, 'database_timeouts_missing', message, { missing });
    }
  }

  /** Retries until the database is open, the replica stops, or a failure is permanent. */
  private async retryOpen(firstError: unknown): Promise<void> {
    const { signal } = this.stopping;
    let error = firstError;
    let logged = { reason: '', at: 0 };
    while (isTemporary(error)) {
      const [reason, now] = [getErrorMessage(error), performance.now()];
      if (reason !== logged.reason || now - logged.at >= REMINDER_INTERVAL_MS) {
        logged = { reason, at: now };
        const message = `The database is unavailable (${reason}); retrying every second.`;
        logEvent(this.logger, 'database_unavailable', message, { reason });
      }
      await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        return;
      }
      try {
        await this.open();
        logEvent(this.logger, 'database_opened', 'The database is available.');
        return;
      } catch (nextError) {
        error = nextError;
      }
    }
    this.reportFailure(toSetupError(error));
  }
}

function toSetupError(error: unknown): DatabaseSetupError {
  return error instanceof DatabaseSetupError ? error : new DatabaseSetupError(getErrorMessage(error), { cause: error });
}
