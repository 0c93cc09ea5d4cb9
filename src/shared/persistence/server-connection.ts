import type { DataSourceOptions } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { readCertificate, readClientCertificate } from '../../config/certificates';
import { InvalidSettingsError, type Settings } from '../../config/settings';
import { DATABASE_SETTINGS } from './database-settings';

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/**
 * Returns the URL with which `pg` connects to a PostgreSQL server. Its `sslmode` has the meaning that it has in libpq.
 * @param variable the setting that holds the URL
 * @throws InvalidSettingsError
 */
export function createServerUrl(
  variable: 'DATABASE_URL' | 'DATABASE_MIGRATION_URL' | 'DATABASE_READ_URL',
  text: string,
  settings: Pick<Settings, 'get'>,
): string {
  const url = new URL(text);
  const { searchParams: parameters } = url;
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode)) {
    throw new InvalidSettingsError(
      `${variable} must have sslmode=disable, require, verify-ca or verify-full, or no sslmode at all` +
        (mode === 'allow' || mode === 'prefer' ? `; ${mode} does not ensure that the connection is encrypted.` : '.'),
    );
  }
  const isSocket = (parameters.get('host') ?? decodeURIComponent(url.hostname)).startsWith('/');
  if (mode === 'disable' || isSocket) {
    parameters.set('sslmode', 'disable');
    return url.href;
  }
  const { caFile, certFile, keyFile } = settings.get(DATABASE_SETTINGS);
  if (mode === null) {
    if ((caFile ?? certFile ?? keyFile) !== undefined) {
      throw new InvalidSettingsError(
        `${variable} must have sslmode=verify-full, verify-ca or require, because its certificates have no effect without TLS.`,
      );
    }
    // Otherwise, `pg` would take it from PGSSLMODE, which operators set for other programs.
    parameters.set('sslmode', 'disable');
    return url.href;
  }
  if (mode === 'verify-ca' && caFile === undefined) {
    throw new InvalidSettingsError(`${variable} has sslmode=verify-ca, which needs DATABASE_CA_FILE.`);
  }
  // `pg` reads the files for each connection. An invalid one stops the start.
  if (caFile !== undefined) {
    readCertificate('DATABASE_CA_FILE', caFile);
    parameters.set('sslrootcert', caFile);
  }
  readClientCertificate('DATABASE', certFile, keyFile);
  if (certFile !== undefined && keyFile !== undefined) {
    parameters.set('sslcert', certFile);
    parameters.set('sslkey', keyFile);
  }
  parameters.set('uselibpqcompat', 'true');
  return url.href;
}

/**
 * Returns the connection options for migrations: a separate URL, for example of a role that may change the schema, or the
 * same options as the service.
 * @throws InvalidSettingsError
 */
export function createMigrationOptions(
  options: DataSourceOptions,
  settings: Pick<Settings, 'databaseUrl' | 'get'>,
): DataSourceOptions {
  const { migrationUrl } = settings.get(DATABASE_SETTINGS);
  if (migrationUrl === undefined) {
    return options;
  }
  if (settings.databaseUrl === undefined) {
    throw new InvalidSettingsError('DATABASE_MIGRATION_URL has no effect without DATABASE_URL: set both.');
  }
  const url = createServerUrl('DATABASE_MIGRATION_URL', migrationUrl, settings);
  return { ...(options as PostgresDataSourceOptions), url };
}
