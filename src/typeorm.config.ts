import type { ClientBase } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { AccountSchema } from './auth/persistence/account.schema';
import { AddKeyLastUse1795288800000 } from './auth/persistence/add-key-last-use.migration';
import { AddKeyRotation1795288200000 } from './auth/persistence/add-key-rotation.migration';
import { AddKeyScope1795332600000 } from './auth/persistence/add-key-scope.migration';
import { AddKeyUnbans1795292400000 } from './auth/persistence/add-key-unbans.migration';
import { ApiKeySchema } from './auth/persistence/api-key.schema';
import { CreateAuthChanges1795296000000 } from './auth/persistence/create-auth-changes.migration';
import { CreateAuditEntries1795287600000 } from './auth/persistence/create-audit-entries.migration';
import { CreateAccountsAndKeys1795219200000 } from './auth/persistence/create-accounts-and-keys.migration';
import type { Settings } from './config/settings';
import { CreateIdempotencyRecords1795278000000 } from './idempotency/persistence/create-idempotency-records.migration';
import { CreateOrders1795291200000 } from './orders/persistence/create-orders.migration';
import { OrderSchema } from './orders/persistence/order.schema';
import { CreatePets1795219200001 } from './pets/persistence/create-pets.migration';
import { FixPetNameCheck1795320900000 } from './pets/persistence/fix-pet-name-check.migration';
import { PetSchema } from './pets/persistence/pet.schema';
import { DATABASE_SETTINGS } from './shared/persistence/database-settings';
import { embeddedDatabaseHost } from './shared/persistence/embedded/embedded-database';
import { openSession, PostgresClient } from './shared/persistence/postgres-client';
import { serverConnection } from './shared/persistence/server-connection';

/** How TypeORM reaches the database, the schemas it maps, and the migrations, in the order they run. */
export function typeOrmConfig(settings: Pick<Settings, 'databaseUrl' | 'dataDir' | 'of'>): DataSourceOptions {
  const { databaseUrl, dataDir } = settings;
  const { poolMax, poolerMode, statementTimeoutMs } = settings.of(DATABASE_SETTINGS);
  // In transaction mode, they would be set on connections of the server that others use too: there, the role has them.
  const timeouts = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.floor(statementTimeoutMs / 2),
    // What a replica that vanished in a transaction had locked is free again after this.
    idle_in_transaction_session_timeout: 3_000,
  };
  return {
    type: 'postgres',
    entities: [
      // One a line.
      AccountSchema,
      ApiKeySchema,
      OrderSchema,
      PetSchema,
    ],
    migrations: [
      CreateAccountsAndKeys1795219200000,
      CreatePets1795219200001,
      CreateIdempotencyRecords1795278000000,
      CreateAuditEntries1795287600000,
      AddKeyRotation1795288200000,
      AddKeyLastUse1795288800000,
      CreateOrders1795291200000,
      AddKeyUnbans1795292400000,
      CreateAuthChanges1795296000000,
      FixPetNameCheck1795320900000,
      AddKeyScope1795332600000,
    ],
    migrationsTableName: 'migrations',
    synchronize: false,
    applicationName: 'petstore',
    ...(databaseUrl === undefined
      ? { host: embeddedDatabaseHost(dataDir), port: 5432, username: 'postgres', database: 'postgres' }
      : serverConnection('DATABASE_URL', databaseUrl, settings)),
    poolSize: poolMax,
    // Together these answer 503 within 2 s when the database is down, frozen or overloaded.
    connectTimeoutMS: 700,
    extra: {
      // Connections are kept: to open them in the middle of a burst is what would make it too slow.
      idleTimeoutMillis: 0,
      maxLifetimeSeconds: 600,
      pipeline: true,
      Client: PostgresClient,
      ...(databaseUrl !== undefined && {
        query_timeout: statementTimeoutMs + 100,
        keepAlive: true,
        keepAliveInitialDelayMillis: 10_000,
        onConnect: (client: ClientBase) => openSession(client, poolerMode === 'session' ? timeouts : {}),
      }),
    },
  };
}
