import { DataSource } from 'typeorm';
import { loadSettings } from './src/config/settings';
import { MIGRATION_CONNECTION } from './src/shared/persistence/migrate';
import { typeOrmConfig } from './src/typeorm.config';

/** The database of the environment's settings, for TypeORM's command line (`npm run typeorm`). */
export default new DataSource({ ...typeOrmConfig(loadSettings(process.env)), extra: MIGRATION_CONNECTION });
