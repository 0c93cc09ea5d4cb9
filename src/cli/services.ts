import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { DataSourceOptions } from 'typeorm';
import { AccountsModule, AccountsService, AuditTrail, KeysService } from '../auth';
import { loadSettings, type Settings } from '../config/settings';
import { Clock, SystemClock } from '../shared/domain/clock';
import { migrate } from '../shared/persistence/migrate';
import { createMigrationOptions } from '../shared/persistence/server-connection';
import { MigrationLockedError } from '../shared/persistence/startup-errors';
import { SharedModule } from '../shared/shared.module';
import { createTypeOrmConfig } from '../typeorm.config';
import { CommandDatabase, openUnlessInUse } from './command-database';

const MIGRATION_RETRY_MS = 1_000;
/** No request waits for a command. */
const CONNECT_TIMEOUT_MS = 5_000;

/** The services that a command can use. */
export interface Services {
  readonly accounts: AccountsService;
  readonly keys: KeysService;
  readonly audit: AuditTrail;
  readonly settings: Settings;
  readonly clock: Clock;
}

/**
 * Runs a command without the HTTP layer, on the database in `DATABASE_URL` or on the embedded database, even if a running server has it
 * open.
 */
export async function withServices(env: NodeJS.ProcessEnv, run: (services: Services) => Promise<void>): Promise<void> {
  const settings = loadSettings(env);
  const shared = SharedModule.forRoot(settings, new SystemClock(), createConfig(settings), CommandDatabase);
  const context = await NestFactory.createApplicationContext(
    { imports: [shared, AccountsModule] },
    // Nest prints warnings to standard output, which must remain parseable.
    { logger: ['fatal', 'error'], abortOnError: false },
  );
  try {
    await run({
      accounts: context.get(AccountsService),
      keys: context.get(KeysService),
      audit: context.get(AuditTrail),
      settings,
      clock: context.get(Clock),
    });
  } finally {
    await context.close();
  }
}

/**
 * Brings the schema up to date. Waits indefinitely for locks of other sessions.
 * @param onWait called once with each reason for waiting
 * @returns the names of the migrations that ran
 */
export function runMigrations(env: NodeJS.ProcessEnv, onWait: (reason: string) => void): Promise<string[]> {
  const reasons = new Set<string>();
  return withDatabase(env, async (options) => {
    for (;;) {
      try {
        return await migrate(options);
      } catch (error) {
        if (!(error instanceof MigrationLockedError)) {
          throw error;
        }
        if (!reasons.has(error.message)) {
          reasons.add(error.message);
          onWait(error.message);
        }
      }
      await sleep(MIGRATION_RETRY_MS);
    }
  });
}

/** Runs `work` with the database options. Opens the embedded database for it, unless `DATABASE_URL` is set or a server has it open. */
export async function withDatabase<T>(
  env: NodeJS.ProcessEnv,
  work: (options: DataSourceOptions) => Promise<T>,
): Promise<T> {
  const settings = loadSettings(env);
  const embedded = settings.databaseUrl === undefined ? await openUnlessInUse(settings.dataDir) : undefined;
  try {
    return await work(createMigrationOptions(createConfig(settings), settings));
  } finally {
    await embedded?.close();
  }
}

function createConfig(settings: Settings): DataSourceOptions {
  return { ...createTypeOrmConfig(settings), connectTimeoutMS: CONNECT_TIMEOUT_MS };
}
