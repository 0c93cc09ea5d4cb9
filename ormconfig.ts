import { DataSource } from 'typeorm';
import { loadSettings } from './src/config/settings';
import { createMigrationOptions } from './src/shared/persistence/server-connection';
import { POOL_OPTIONS } from './src/shared/persistence/session';
import { createTypeOrmConfig } from './src/typeorm.config';

const settings = loadSettings(process.env);

/** The database of the environment's settings, for TypeORM's command line (`npm run typeorm`). */
export default new DataSource({
  ...createMigrationOptions(createTypeOrmConfig(settings), settings),
  // Without the timeouts of the service's statements, and without a connection that would keep a command from ending.
  extra: { ...POOL_OPTIONS, min: 0 },
});
