import type { Abstract } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { createApp } from '../../../src/app.setup';
import { AccountsService, KeysService, type Plan } from '../../../src/auth';
import { loadSettings } from '../../../src/config/settings';
import { IdempotencyRecords } from '../../../src/idempotency/domain/idempotency-records';
import type { Allowance } from '../../../src/shared/domain/allowance';
import { migrate } from '../../../src/shared/persistence/migrate';

/** The operator's view of the database that the replicas share. */
export class Store {
  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly dataSource: DataSource,
  ) {}

  /** Opens the database, with its schema up to date. */
  static async open(databaseUrl: string): Promise<Store> {
    const app = await createApp(loadSettings({ APP_ENV: 'production', DATABASE_URL: databaseUrl }));
    const dataSource = app.get(DataSource);
    await migrate(dataSource.options);
    await dataSource.initialize();
    return new Store(app, dataSource);
  }

  /** A service of the application, on this database. */
  get<T>(service: Abstract<T>): T {
    return this.app.get(service);
  }

  /** A key of a new account. */
  async createKey(plan: Plan, allowance?: Allowance): Promise<string> {
    const account = await this.app.get(AccountsService).create('Test', plan, allowance);
    return (await this.app.get(KeysService).create(account.id)).secret;
  }

  /** A key of a new account that meets no limit. */
  createUnlimitedKey(): Promise<string> {
    return this.createKey('enterprise', { perMinute: 1_000_000, perDay: 10_000_000 });
  }

  /** What each replica does once a minute. @returns how many records it removed */
  removeExpiredRecords(): Promise<number> {
    return this.app.get(IdempotencyRecords).removeExpired(1_000);
  }

  /** Ends all connections of replicas to the database, from the server's side. */
  async terminateReplicas(): Promise<void> {
    await this.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'petstore' AND pid <> pg_backend_pid()`,
    );
  }

  query<T>(sql: string, parameters?: unknown[]): Promise<T> {
    return this.dataSource.query<T>(sql, parameters);
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
  }
}
