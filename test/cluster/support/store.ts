import type { Abstract } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { createApp } from '../../../src/app.setup';
import { AccountsService, KeysService, type Plan } from '../../../src/auth';
import { loadSettings } from '../../../src/config/settings';
import { IdempotencyRecords } from '../../../src/idempotency/domain/idempotency-records';
import type { AccountLimits } from '../../../src/auth/domain/account';
import { migrate } from '../../../src/shared/persistence/migrate';
import { onEnd } from '../../support/cleanup';

/** The database that the replicas share, and the services that an operator uses on it. */
export class Store {
  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly dataSource: DataSource,
  ) {}

  /** Opens the database and migrates it. */
  static async open(databaseUrl: string): Promise<Store> {
    const app = await createApp(loadSettings({ APP_ENV: 'production', DATABASE_URL: databaseUrl }));
    const dataSource = app.get(DataSource);
    await migrate(dataSource.options);
    await dataSource.initialize();
    const store = new Store(app, dataSource);
    onEnd(() => store.close());
    return store;
  }

  /** Returns a service of the application that uses this database. */
  get<T>(service: Abstract<T>): T {
    return this.app.get(service);
  }

  /** Creates a key of a new account. */
  async createKey(plan: Plan, allowance?: AccountLimits): Promise<string> {
    const account = await this.app.get(AccountsService).create('Test', plan, allowance);
    return (await this.app.get(KeysService).create(account.id)).secret;
  }

  /** Creates a key whose limits no test reaches. */
  createUnlimitedKey(): Promise<string> {
    return this.createKey('enterprise', { perMinute: 1_000_000, perDay: 10_000_000 });
  }

  /** Does the cleanup that each replica does once a minute. @returns the number of removed records */
  removeExpiredRecords(): Promise<number> {
    return this.app.get(IdempotencyRecords).removeExpired(1_000);
  }

  /** Terminates the database connections of all replicas on the server. */
  async terminateConnections(): Promise<void> {
    await this.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'petstore' AND pid <> pg_backend_pid()`,
    );
  }

  query<T>(sql: string, parameters?: unknown[]): Promise<T> {
    return this.dataSource.query<T>(sql, parameters);
  }

  async close(): Promise<void> {
    if (this.dataSource.isInitialized) {
      await this.dataSource.destroy();
    }
  }
}
