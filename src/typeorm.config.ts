import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { BRAND } from './config/brand';
import type { Settings } from './config/settings';
import { FEATURE_MODULES } from './feature-modules';
import type { FeatureModule } from './shared/feature-module';
import { DATABASE_SETTINGS } from './shared/persistence/database-settings';
import { getEmbeddedDatabaseHost } from './shared/persistence/embedded/embedded-database';
import { PostgresNamingStrategy } from './shared/persistence/naming-strategy';
import { createServerUrl } from './shared/persistence/server-connection';
import {
  CONNECT_TIMEOUT_MS,
  createServerPoolOptions,
  POOL_OPTIONS,
  URGENT_CONNECTIONS,
} from './shared/persistence/session';

/** A statement outside of a transaction waits for its end, and forever if the transaction waits for the statement. */
const EMBEDDED_QUERY_TIMEOUT_MS = 5_000;

/** The database connection of TypeORM, the entity schemas, and the migrations in the order in which they run. */
export function createTypeOrmConfig(
  settings: Pick<Settings, 'databaseUrl' | 'dataDir' | 'get'>,
): PostgresDataSourceOptions {
  const { databaseUrl, dataDir } = settings;
  const { poolMax } = settings.get(DATABASE_SETTINGS);
  const modules: readonly FeatureModule[] = FEATURE_MODULES;
  return {
    type: 'postgres',
    entities: modules.flatMap(({ schemas = [] }) => schemas),
    migrations: modules
      .flatMap(({ migrations = [] }) => migrations)
      .sort((a, b) => getTimestamp(a.name) - getTimestamp(b.name)),
    migrationsTableName: 'migrations',
    namingStrategy: new PostgresNamingStrategy(),
    synchronize: false,
    // `gen_random_uuid()`, which needs no extension.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    applicationName: BRAND.name,
    ...(databaseUrl === undefined
      ? { host: getEmbeddedDatabaseHost(dataDir), port: 5432, username: 'postgres', database: 'postgres' }
      : { url: createServerUrl('DATABASE_URL', databaseUrl, settings) }),
    poolSize: poolMax - URGENT_CONNECTIONS,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    extra:
      databaseUrl === undefined
        ? { ...POOL_OPTIONS, query_timeout: EMBEDDED_QUERY_TIMEOUT_MS }
        : createServerPoolOptions(settings, 'primary'),
  };
}

/** TypeORM reads it from the last 13 characters of the name of a migration. */
function getTimestamp(name: string): number {
  return Number(name.slice(-13));
}
