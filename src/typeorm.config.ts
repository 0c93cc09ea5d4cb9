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
import { getEmbeddedDatabaseHost } from './shared/persistence/embedded/embedded-database';
import { parseServerConnection } from './shared/persistence/server-connection';
import {
  CONNECT_TIMEOUT_MS,
  createServerPoolOptions,
  POOL_OPTIONS,
  URGENT_CONNECTIONS,
} from './shared/persistence/session';

/** The database connection of TypeORM, the entity schemas, and the migrations in the order in which they run. */
export function createTypeOrmConfig(settings: Pick<Settings, 'databaseUrl' | 'dataDir' | 'get'>): DataSourceOptions {
  const { databaseUrl, dataDir } = settings;
  const { poolMax } = settings.get(DATABASE_SETTINGS);
  return {
    type: 'postgres',
    entities: [
      // One per line, so that branches that add modules merge without conflicts.
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
      ? { host: getEmbeddedDatabaseHost(dataDir), port: 5432, username: 'postgres', database: 'postgres' }
      : parseServerConnection('DATABASE_URL', databaseUrl, settings)),
    poolSize: poolMax - URGENT_CONNECTIONS,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    extra: databaseUrl === undefined ? POOL_OPTIONS : createServerPoolOptions(settings, 'primary'),
  };
}
