import type { ConnectionOptions } from 'node:tls';
import type { DataSourceOptions } from 'typeorm';
import { readCertificate, readClientCertificate } from '../../config/certificates';
import { TLS_PARAMETERS } from '../../config/formats';
import { InvalidSettingsError, type SettingFile, type Settings } from '../../config/settings';
import { DATABASE_SETTINGS } from './database-settings';

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];
/** The certificate authorities that Node.js trusts. */
const SYSTEM_CA = 'system';

type TlsOptions = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'checkServerIdentity'>;

/** The options with which TypeORM connects to a PostgreSQL server. */
export interface ServerConnection {
  readonly url: string;
  /** If undefined, `pg` reads its environment variables. */
  readonly ssl: TlsOptions | false | undefined;
}

/**
 * Interprets the TLS parameters of a URL as libpq does, because `pg` gives the modes other meanings.
 * @param variable the setting that holds the URL
 * @throws InvalidSettingsError
 */
export function parseServerConnection(
  variable: 'DATABASE_URL' | 'DATABASE_MIGRATION_URL' | 'DATABASE_READ_URL',
  text: string,
  settings: Pick<Settings, 'get'>,
): ServerConnection {
  const url = new URL(text);
  const { searchParams: parameters } = url;
  const { caFile, certFile, keyFile } = settings.get(DATABASE_SETTINGS);
  const getFile = (parameter: string, setting: string, defaultPath: string | undefined): SettingFile | undefined => {
    const path = parameters.get(parameter);
    const label = path === null ? setting : `${parameter} in ${variable}`;
    return path === null && defaultPath === undefined ? undefined : { label, path: path ?? defaultPath ?? '' };
  };
  const ca = getFile('sslrootcert', 'DATABASE_CA_FILE', caFile);
  const cert = getFile('sslcert', 'DATABASE_CERT_FILE', certFile);
  const key = getFile('sslkey', 'DATABASE_KEY_FILE', keyFile);
  const mode = parseSslMode(variable, parameters);

  const isSocket = (parameters.get('host') ?? decodeURIComponent(url.hostname)).startsWith('/');
  if (mode === undefined && !isSocket) {
    const unused = ca ?? cert ?? key;
    if (unused !== undefined) {
      throw new InvalidSettingsError(
        `${variable} must have sslmode=verify-full, verify-ca or require, because ${unused.label} has no effect without TLS.`,
      );
    }
    return { url: text, ssl: undefined };
  }
  // Removed, because `pg` would interpret them differently.
  TLS_PARAMETERS.forEach((name) => {
    parameters.delete(name);
  });
  const ssl =
    mode === undefined || mode === 'disable' || isSocket ? false : readTlsOptions(variable, mode, ca, cert, key);
  return { url: url.href, ssl };
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
  const connection = parseServerConnection('DATABASE_MIGRATION_URL', migrationUrl, settings);
  return { ...options, ...connection };
}

function parseSslMode(variable: string, parameters: URLSearchParams): string | undefined {
  const ssl = parameters.get('ssl');
  const isSystem = parameters.get('sslrootcert') === SYSTEM_CA;
  // As in libpq, which accepts `ssl=true` for compatibility with JDBC URLs.
  const impliedMode = ssl === 'true' ? 'require' : isSystem ? 'verify-full' : undefined;
  const mode = parameters.get('sslmode') ?? impliedMode;
  if ((mode !== undefined && !SSL_MODES.includes(mode)) || (ssl !== null && ssl !== 'true')) {
    throw new InvalidSettingsError(
      `${variable} must have sslmode=disable, require, verify-ca or verify-full, or no sslmode at all` +
        (mode === 'allow' || mode === 'prefer' ? `; ${mode} does not ensure that the connection is encrypted.` : '.'),
    );
  }
  return mode;
}

function readTlsOptions(
  variable: string,
  mode: string,
  caFile: SettingFile | undefined,
  certFile: SettingFile | undefined,
  keyFile: SettingFile | undefined,
): TlsOptions {
  const isSystem = caFile?.path === SYSTEM_CA && caFile.label !== 'DATABASE_CA_FILE';
  if (mode === 'verify-ca' && caFile === undefined) {
    throw new InvalidSettingsError(`${variable} has sslmode=verify-ca, which needs DATABASE_CA_FILE.`);
  }
  if (mode !== 'verify-full' && isSystem) {
    throw new InvalidSettingsError(`${variable} must have sslmode=verify-full with sslrootcert=system.`);
  }
  const ca = caFile === undefined || isSystem ? undefined : readCertificate(caFile);
  return {
    // Without a CA file, `require` encrypts without verification, and `verify-full` trusts the authorities of Node.js.
    ...(ca === undefined ? { rejectUnauthorized: mode === 'verify-full' } : { ca }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...readClientCertificate(certFile, keyFile, 'DATABASE_CERT_FILE and DATABASE_KEY_FILE'),
  };
}
