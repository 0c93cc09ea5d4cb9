import { DataSource } from 'typeorm';
import { loadSettings } from './src/config/settings';
import { MIGRATION_CONNECTION } from './src/shared/persistence/migrate';
import { migrationOptions } from './src/shared/persistence/server-connection';
import { typeOrmConfig } from './src/typeorm.config';

const settings = loadSettings(process.env);

/** The database of the environment's settings, for TypeORM's command line (`npm run typeorm`). */
export default new DataSource({ ...migrationOptions(typeOrmConfig(settings), settings), extra: MIGRATION_CONNECTION });
