import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { version } from '../../package.json';
// Modules declare their settings when they are loaded.
import '../app.module';
import { RATE_LIMIT_SETTINGS } from '../rate-limiting';
import { DATABASE_SETTINGS } from '../shared/persistence/database-settings';
import { createMigrationOptions } from '../shared/persistence/server-connection';
import { createTypeOrmConfig } from '../typeorm.config';
import { integer } from './formats';
import { declareSettings, InvalidSettingsError, loadSettings, SETTINGS } from './settings';
import { VERSION } from './version';

describe('Settings', () => {
  it('have defaults for development', () => {
    const settings = loadSettings({});
    expect(settings).toMatchObject({
      environment: 'development',
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: undefined,
      baseUrl: 'http://127.0.0.1:3000/v1',
      trustProxy: false,
      docsEnabled: true,
    });
    expect(settings.get(RATE_LIMIT_SETTINGS)).toEqual({
      authFailuresPerMinute: 60,
      banWindowSeconds: 600,
      banDurationsSeconds: [900, 3_600, 86_400],
      banMemorySeconds: 86_400,
    });
  });

  it('treat an empty variable as unset', () => {
    expect(loadSettings({ PORT: '', DATABASE_URL: '' }).port).toBe(3000);
  });

  it.each<[Record<string, string>, string]>([
    [{ APP_ENV: 'prod' }, 'APP_ENV must be development, staging or production.'],
    [{ PORT: '0' }, 'PORT must be a whole number from 1 to 65535.'],
    [{ PORT: '65536' }, 'PORT must be a whole number from 1 to 65535.'],
    [{ PORT: '3000.5' }, 'PORT must be a whole number from 1 to 65535.'],
    [{ PORT: 'abc' }, 'PORT must be a whole number from 1 to 65535.'],
    [{ HOST: 'a b' }, 'HOST must be an IP address or a host name to listen on.'],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL must be a PostgreSQL URL'],
    [{ DATABASE_URL: 'localhost' }, 'DATABASE_URL must be a PostgreSQL URL'],
    [{ REDIS_URL: 'localhost:6379' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis://a,,redis://b' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis://a,redis://b/1' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis://a,redis+cluster://b' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis+cluster://' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis+://a' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redi+s://a' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis+cluster://a/1' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis+sentinel://a' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis+sentinel://a,,b?name=m' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis+sentinel://a/zero?name=m' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis+sentinel://a?name=m&sentinelpassword=p' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_KEY_PREFIX: 'a{b}:' }, 'REDIS_KEY_PREFIX must be 1 to 64 letters'],
    [{ REDIS_KEY_PREFIX: 'a*' }, 'REDIS_KEY_PREFIX must be 1 to 64 letters'],
    [{ DRAIN_SECONDS: '301' }, 'DRAIN_SECONDS must be a whole number from 0 to 300.'],
    [{ LOG_LEVEL: 'verbose' }, 'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent.'],
    [{ PORT: '3000', METRICS_PORT: '3000' }, 'METRICS_PORT must differ from PORT.'],
    [{ METRICS_PORT: '3000' }, 'METRICS_PORT must differ from PORT.'],
    [{ MIGRATE_ON_START: 'no' }, 'MIGRATE_ON_START must be true or false.'],
    [{ OTEL_SDK_DISABLED: '1' }, 'OTEL_SDK_DISABLED must be true or false.'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'x:1' }, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be an http or https URL'],
    [{ METRICS_PORT: '0' }, 'METRICS_PORT must be a whole number from 1 to 65535.'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json.'],
    [{ DOCS_ENABLED: 'no' }, 'DOCS_ENABLED must be true or false.'],
    [{ DATABASE_URL_FILE: '/no/such/file' }, 'DATABASE_URL_FILE names a file that cannot be read (ENOENT).'],
    [{ REDIS_URL: 'redis://a', REDIS_URL_FILE: '/x' }, 'REDIS_URL and REDIS_URL_FILE must not both be set.'],
    [{ PUBLIC_BASE_URL: 'https://api.example.com' }, 'PUBLIC_BASE_URL must be an http or https URL that ends in /v1'],
    [{ STAGING_BASE_URL: 'ftp://x/v1' }, 'STAGING_BASE_URL must be an http or https URL'],
    [{ TRUST_PROXY: 'true' }, 'TRUST_PROXY must be the number of gateways'],
    [{ TRUST_PROXY: '10.0.0.0/33' }, 'TRUST_PROXY must be the number of gateways'],
    [{ AUTH_FAILURES_PER_MINUTE: '0' }, 'AUTH_FAILURES_PER_MINUTE must be a whole number from 1 to 1000000.'],
    [{ BAN_DURATIONS_SECONDS: '1,,2' }, 'BAN_DURATIONS_SECONDS must be one to ten whole numbers'],
    [{ APP_ENV: 'production' }, 'DATABASE_URL is required when APP_ENV is production.'],
    [{ APP_ENV: 'staging' }, 'DATABASE_URL is required when APP_ENV is staging.'],
  ])('reject %j with one readable line', (env, message) => {
    expect(() => loadSettings(env)).toThrow(InvalidSettingsError);
    expect(() => loadSettings(env)).toThrow(message);
    expect(() => loadSettings(env)).not.toThrow(/\n/);
  });

  it.each([
    'postgres://a:5432,b:5432/db?target_session_attrs=read-write',
    'postgres://a,b/db',
    'postgres:///db?host=a,b',
  ])('say what to do instead of naming several database servers (%s)', (url) => {
    expect(() => loadSettings({ DATABASE_URL: url })).toThrow(
      /^DATABASE_URL must be a PostgreSQL URL with one host, .+ use a host that points to the primary, such as a proxy like HAProxy, /,
    );
  });

  it('list every invalid setting on its own line, without its value', () => {
    expect(() => loadSettings({ PORT: 'x', DATABASE_URL: 'secret', BAN_WINDOW_SECONDS: 'y' })).toThrow(
      /^PORT .+\nDATABASE_URL .+\nBAN_WINDOW_SECONDS .+$/,
    );
    expect(() => loadSettings({ DATABASE_URL: 'secret' })).not.toThrow(/secret/);
  });

  it('must be declared only once, and before they are read', () => {
    const settings = loadSettings({});
    expect(() => declareSettings({ port: ['PORT', integer(1, 2), 1] })).toThrow('The setting PORT is declared twice.');
    const late = declareSettings({ late: ['LATE', integer(1, 2), 1] });
    delete SETTINGS.LATE;
    expect(() => settings.get(late)).toThrow('The setting LATE was declared after the settings were read.');
  });

  it.each([
    ['0', false],
    ['2', 2],
    ['10.0.0.0/8, 2001:db8::/32,192.0.2.1', ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']],
  ])('read TRUST_PROXY=%s', (text, expected) => {
    expect(loadSettings({ TRUST_PROXY: text }).trustProxy).toEqual(expected);
  });

  it('read URLs with a password from files', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'petstore-test-')), 'secret');
    await writeFile(path, 'redis://:secret@h\n');
    expect(loadSettings({ REDIS_URL_FILE: path }).redisUrls).toEqual(['redis://:secret@h']);
    await writeFile(path, 'postgres://u:secret@h/d\n');
    expect(loadSettings({ DATABASE_URL_FILE: path }).databaseUrl).toBe('postgres://u:secret@h/d');
    const settings = loadSettings({ DATABASE_MIGRATION_URL_FILE: path });
    expect(settings.get(DATABASE_SETTINGS).migrationUrl).toBe('postgres://u:secret@h/d');
    const reader = loadSettings({ DATABASE_READ_URL_FILE: path });
    expect(reader.get(DATABASE_SETTINGS).readUrl).toBe('postgres://u:secret@h/d');
    const missing = () => createMigrationOptions(createTypeOrmConfig(settings), settings);
    expect(missing).toThrow('DATABASE_MIGRATION_URL has no effect without DATABASE_URL: set both.');
    await rm(dirname(path), { recursive: true });
  });

  it('accept one Redis server, or several nodes of a cluster', () => {
    expect(loadSettings({}).redisUrls).toEqual([]);
    expect(loadSettings({ REDIS_URL: 'redis://a:1, rediss://b' }).redisUrls).toEqual(['redis://a:1', 'rediss://b']);
  });

  it.each([
    ['redis+cluster://u:p%2Cw@a', ['redis+cluster://u:p%2Cw@a']],
    ['rediss+cluster://a:1,[::1]:2', ['rediss+cluster://a:1', 'rediss+cluster://[::1]:2']],
    [
      'redis+sentinel://u:p@a:1, b/2?name=m&sentinelPassword=s',
      ['redis+sentinel://u:p@a:1/2?name=m&sentinelPassword=s', 'redis+sentinel://u:p@b/2?name=m&sentinelPassword=s'],
    ],
  ])('read REDIS_URL=%s as a URL for each host', (text, expected) => {
    expect(loadSettings({ REDIS_URL: text }).redisUrls).toEqual(expected);
  });

  it('let a replica drain for 3 seconds, but not in development', () => {
    expect(loadSettings({}).drainSeconds).toBe(0);
    expect(loadSettings({ APP_ENV: 'production', DATABASE_URL: 'postgres://h/d' }).drainSeconds).toBe(3);
    expect(loadSettings({ DRAIN_SECONDS: '8' }).drainSeconds).toBe(8);
  });

  it('serve the documentation unless DOCS_ENABLED is false', () => {
    expect(loadSettings({ DOCS_ENABLED: 'true' }).docsEnabled).toBe(true);
    expect(loadSettings({ DOCS_ENABLED: 'false' }).docsEnabled).toBe(false);
  });

  it('use the base URL of the environment; without one, links are relative', () => {
    const both = { PUBLIC_BASE_URL: 'https://a.example/v1', STAGING_BASE_URL: 'https://b.example/x/v1' };
    const database = { DATABASE_URL: 'postgres://h/d' };
    expect(loadSettings({ ...both, ...database, APP_ENV: 'production' }).baseUrl).toBe('https://a.example/v1');
    expect(loadSettings({ ...both, ...database, APP_ENV: 'staging' }).baseUrl).toBe('https://b.example/x/v1');
    expect(loadSettings({ ...database, APP_ENV: 'production' }).baseUrl).toBe('/v1');
    expect(loadSettings({ HOST: '::', PORT: '80' }).baseUrl).toBe('http://127.0.0.1:80/v1');
    expect(loadSettings({ HOST: '::1', PORT: '80' }).baseUrl).toBe('http://[::1]:80/v1');
  });

  it('match the table in docs/configuration.md, with their defaults', async () => {
    const text = await readFile(join(__dirname, '../../docs/configuration.md'), 'utf8');
    const documented = [...text.matchAll(/^\| `([A-Z][A-Z_]+)` +\|.*\| (.+?) +\|$/gm)];
    expect(documented.map(([, name]) => name).sort()).toEqual(Object.keys(SETTINGS).sort());
    // Defaults that depend on other settings are described in words.
    const defaults = Object.entries(SETTINGS)
      .map(
        ([name, [, defaultValue]]) =>
          [name, defaultValue === undefined || defaultValue === false ? '' : defaultValue.toString()] as const,
      )
      .filter(([, defaultValue]) => defaultValue !== '');
    const cells = new Map(documented.map(([, name = '', cell]) => [name, cell]));
    expect(defaults.map(([name]) => [name, cells.get(name)])).toEqual(
      defaults.map(([name, defaultValue]) => [name, `\`${defaultValue}\``]),
    );
    expect(defaults.length).toBeGreaterThan(8);
  });

  it('match .env.example, with their defaults or with valid values', async () => {
    const text = await readFile(join(__dirname, '../../.env.example'), 'utf8');
    const examples = [...text.matchAll(/^# ([A-Z_]+)=(.+)$/gm)].map(
      ([, name = '', value = '']) => [name, value] as const,
    );
    expect(examples.map(([name]) => name).sort()).toEqual(Object.keys(SETTINGS).sort());
    for (const [name, value] of examples) {
      const defaultValue = SETTINGS[name]?.[1] ?? '';
      expect([name, value]).toEqual([name, defaultValue === false ? value : defaultValue.toString() || value]);
    }
    expect(() => loadSettings(Object.fromEntries(examples))).not.toThrow();
  });
});

describe('The version of the service', () => {
  it('is the version in package.json', () => {
    expect(VERSION).toBe(version);
  });
});
