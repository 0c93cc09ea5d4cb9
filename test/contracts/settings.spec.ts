import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
// Modules declare their settings when they are loaded.
import '../../src/app.module';
import { DATABASE_SETTINGS } from '../../src/shared/persistence/database-settings';
import { createMigrationOptions } from '../../src/shared/persistence/server-connection';
import { createTypeOrmConfig } from '../../src/typeorm.config';
import { integer } from '../../src/config/formats';
import { createTemporaryDirectory } from '../support/process';
import { declareSettings, InvalidSettingsError, loadSettings, SETTINGS } from '../../src/config/settings';

describe('Settings', () => {
  it('treat an empty variable as unset', () => {
    expect(loadSettings({ PORT: '', DATABASE_URL: '' }).port).toBe(3000);
  });

  it.each<[Record<string, string>, string]>([
    [{ APP_ENV: 'prod' }, 'APP_ENV must be development, staging or production.'],
    [{ PORT: '65536' }, 'PORT must be a whole number from 1 to 65535.'],
    [{ HOST: 'a b' }, 'HOST must be an IP address or a host name to listen on.'],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL must be a PostgreSQL URL'],
    [{ REDIS_URL: 'localhost:6379' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis://a,,redis://b' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis://a,redis://b/1' }, 'REDIS_URL must have the same scheme, user, password and path for every'],
    [{ REDIS_URL: 'redis://a,rediss://b' }, 'REDIS_URL must have the same scheme, user, password and path for every'],
    [
      { REDIS_URL: 'redis://a,redis://u:p@b' },
      'REDIS_URL must have the same scheme, user, password and path for every',
    ],
    [{ REDIS_URL: 'redis://' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis:a:6379' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redis://a/abc' }, 'REDIS_URL must have a database number as its path, such as redis://host:6379/0'],
    [{ REDIS_URL: 'redis://a/0/1' }, 'REDIS_URL must have a database number as its path'],
    [
      { REDIS_URL: 'redis://a?lazyConnect=false' },
      'REDIS_URL must not have the parameter lazyConnect: none is supported.',
    ],
    [{ REDIS_URL: 'redis://a,redis://b?db=1' }, 'REDIS_URL must not have the parameter db: none is supported.'],
    [{ REDIS_URL: 'redis://a,redis+cluster://b' }, 'REDIS_URL must be a Redis URL'],
    [{ REDIS_URL: 'redi+s://a' }, 'REDIS_URL must be a Redis URL'],
    [
      { REDIS_URL: 'redis+cluster://a/1' },
      'REDIS_URL must have no path, because a Redis Cluster has no database numbers.',
    ],
    [
      { REDIS_URL: 'redis+sentinel://a' },
      'REDIS_URL must name the primary, as in redis+sentinel://host:26379/0?name=mymaster.',
    ],
    [
      { REDIS_URL: 'redis+sentinel://a?name=m&sentinelpassword=p' },
      'REDIS_URL must not have the parameter sentinelpassword: only name, sentinelUsername, sentinelPassword are supported.',
    ],
    [{ REDIS_URL: 'redis+sentinel://a?name=m&name=n' }, 'REDIS_URL must have the parameter name only once.'],
    [
      { DATABASE_URL: 'postgres://h/d?channel_binding=require' },
      'DATABASE_URL must not have the parameter channel_binding: only host, port, user, password, application_name, options, sslmode are supported.',
    ],
    [{ DATABASE_URL: 'postgres://h/d?SSLMODE=require' }, 'DATABASE_URL must not have the parameter SSLMODE'],
    [
      { DATABASE_URL: 'postgres://h/d?statement_timeout=0' },
      'DATABASE_URL must not have the parameter statement_timeout',
    ],
    [{ DATABASE_URL: 'postgres://h/d?host=/run&host=h' }, 'DATABASE_URL must have the parameter host only once.'],
    [{ REDIS_KEY_PREFIX: 'a{b}:' }, 'REDIS_KEY_PREFIX must be 1 to 64 letters'],
    [{ REDIS_KEY_PREFIX: 'a*' }, 'REDIS_KEY_PREFIX must be 1 to 64 letters'],
    [{ DRAIN_SECONDS: '301' }, 'DRAIN_SECONDS must be a whole number from 0 to 300.'],
    [{ LOG_LEVEL: 'verbose' }, 'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent.'],
    [{ PORT: '3000', METRICS_PORT: '3000' }, 'METRICS_PORT must differ from PORT.'],
    [{ MIGRATE_ON_START: 'no' }, 'MIGRATE_ON_START must be true or false.'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json.'],
    [{ DATABASE_URL_FILE: '/no/such/file' }, 'DATABASE_URL_FILE names a file that cannot be read (ENOENT).'],
    [{ REDIS_URL: 'redis://a', REDIS_URL_FILE: '/x' }, 'REDIS_URL and REDIS_URL_FILE must not both be set.'],
    [{ PUBLIC_BASE_URL: 'https://api.example.com' }, 'PUBLIC_BASE_URL must be an http or https URL that ends in /v1'],
    [{ STAGING_BASE_URL: 'ftp://x/v1' }, 'STAGING_BASE_URL must be an http or https URL'],
    [
      { PUBLIC_BASE_URL: 'https://api.example.com/v1?' },
      'PUBLIC_BASE_URL must be an http or https URL that ends in /v1',
    ],
    [{ PUBLIC_BASE_URL: 'https://:secret@h/v1' }, 'PUBLIC_BASE_URL must be an http or https URL that ends in /v1'],
    [{ TRUST_PROXY: '1_0' }, 'TRUST_PROXY must be the number of gateways'],
    [{ PORT: '3_000' }, 'PORT must be a whole number from 1 to 65535.'],
    [{ TRUST_PROXY: 'true' }, 'TRUST_PROXY must be the number of gateways'],
    [{ TRUST_PROXY: '10.0.0.0/33' }, 'TRUST_PROXY must be the number of gateways'],
    [{ TRUST_PROXY: '0.0.0.0/0' }, 'TRUST_PROXY must be the number of gateways'],
    [{ TRUST_PROXY: 'fe80::1%eth0' }, 'TRUST_PROXY must be the number of gateways'],
    [{ AUTH_FAILURES_PER_MINUTE: '0' }, 'AUTH_FAILURES_PER_MINUTE must be a whole number from 1 to 1000000.'],
    [{ BAN_DURATIONS_SECONDS: '1,,2' }, 'BAN_DURATIONS_SECONDS must be one to ten whole numbers'],
    [{ APP_ENV: 'production' }, 'DATABASE_URL is required when APP_ENV is production.'],
  ])('reject %j with one readable line', (env, message) => {
    expect(() => loadSettings(env)).toThrow(InvalidSettingsError);
    expect(() => loadSettings(env)).toThrow(message);
    expect(() => loadSettings(env)).not.toThrow(/\n/);
  });

  describe.each<[name: string, url: string]>([
    ...['DATABASE_URL', 'DATABASE_MIGRATION_URL', 'DATABASE_READ_URL'].map((name): [string, string] => [
      name,
      'postgres://u:?@h/d',
    ]),
    ['REDIS_URL', 'redis://u:?@h/0'],
    ['REDIS_URL', 'redis+sentinel://u:?@h,i/0?name=m'],
    ['REDIS_URL', 'redis+sentinel://h/0?name=m&sentinelPassword=?'],
    ['PUBLIC_BASE_URL', 'https://h/?/v1'],
    ['STAGING_BASE_URL', 'https://h/?/v1'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://u:?@h'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://u:?@h'],
  ])('(%s=%s) say how to write a character', (name, url) => {
    const load = (password: string) => () => loadSettings({ [name]: url.replace('?', password) });

    it.each(['50%', '%zz', '%e4'])('%% in %s', (password) => {
      expect(load(password)).toThrow(`${name} must contain %25 instead of %, for example in the password.`);
    });

    it('# in the password, which would cut the URL', () => {
      expect(load('12#3')).toThrow(`${name} must contain %23 instead of #, for example in the password.`);
    });

    it('a line break, which URL parsers drop', () => {
      expect(load('a\nb')).toThrow(`${name} must be one line, without control characters.`);
    });

    it('and read the character that is percent-encoded', () => {
      expect(load('50%25')).not.toThrow(/%25/);
    });
  });

  it.each([
    ['REDIS_URL', 'redis://u:12?secret=3@h/0'],
    ['DATABASE_URL', 'postgres://u:12?secret@h/d'],
  ])('(%s) do not print what follows a ? in a password', (name, text) => {
    expect(() => loadSettings({ [name]: text })).toThrow(
      `${name} must contain %3F instead of ?, for example in the password.`,
    );
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
    ['0', 0],
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
    await writeFile(path, '\uFEFFredis://h \r\n');
    expect(loadSettings({ REDIS_URL_FILE: path }).redisUrls).toEqual(['redis://h']);
    const missing = () => createMigrationOptions(createTypeOrmConfig(settings), settings);
    expect(missing).toThrow('DATABASE_MIGRATION_URL has no effect without DATABASE_URL: set both.');
    await rm(dirname(path), { recursive: true });
  });

  it.each([
    ['', 'is empty'],
    [' \n', 'is empty'],
    ['redis://h\nsecret\n', 'has more than one line'],
  ])('reject a file that contains %j', async (content, problem) => {
    const { path: directory, remove } = await createTemporaryDirectory();
    const path = join(directory, 'secret');
    await writeFile(path, content);
    for (const name of [
      'DATABASE_URL_FILE',
      'DATABASE_MIGRATION_URL_FILE',
      'DATABASE_READ_URL_FILE',
      'REDIS_URL_FILE',
    ]) {
      expect(() => loadSettings({ [name]: path })).toThrow(`${name} names a file that ${problem} (${path}).`);
    }
    await remove();
  });

  it('ignore white space around a value, such as the last line break of a secret', () => {
    const settings = loadSettings({ DATABASE_URL: 'postgres://h/d\n', PORT: ' 80', REDIS_URL: ' \n' });
    expect(settings).toMatchObject({ databaseUrl: 'postgres://h/d', port: 80, redisUrls: [] });
  });

  describe('outside development', () => {
    const production = { APP_ENV: 'production', DATABASE_URL: 'postgres://h/d' };

    it.each([
      ['REDIS_URI', 'REDIS_URL'],
      ['redis_url', 'REDIS_URL'],
      ['PETSTORE_REDIS_URL', 'REDIS_URL'],
      ['TRUST_PROXIES', 'TRUST_PROXY'],
      ['TURST_PROXY', 'TRUST_PROXY'],
      ['RATE_LIMIT_AUTH_FAILURES', 'AUTH_FAILURES_PER_MINUTE'],
      ['DATABASE_CAFILE', 'DATABASE_CA_FILE'],
    ])('do not start without a setting of security or limits that seems misspelt: %s', (variable, setting) => {
      expect(() => loadSettings({ ...production, [variable]: '1' })).toThrow(
        new InvalidSettingsError(`${variable} is not a setting; did you mean ${setting}?`),
      );
    });

    it('name the misspelt DATABASE_URL, instead of only the missing one', () => {
      expect(() => loadSettings({ APP_ENV: 'staging', DATABASE_URI: 'postgres://h/d' })).toThrow(
        /^DATABASE_URI is not a setting; did you mean DATABASE_URL\?$/,
      );
    });

    it.each([
      ['DATABASE_POOL_MODE', 'DATABASE_POOLER_MODE'],
      ['LOGLEVEL', 'LOG_LEVEL'],
      ['DRAIN_MS', 'DRAIN_SECONDS'],
      ['PUBLIC_BASE_URI', 'PUBLIC_BASE_URL'],
    ])('warn of any other setting that seems misspelt: %s', (variable, setting) => {
      const warnings = [`${variable} is not a setting; did you mean ${setting}?`];
      expect(loadSettings({ ...production, [variable]: '1' }).warnings).toEqual(warnings);
      expect(loadSettings({ [variable]: '1' }).warnings).toEqual([]);
    });

    it('warn only, if the setting itself is set', () => {
      expect(loadSettings({ ...production, DATABASE_URI: 'x' }).warnings).toHaveLength(1);
      expect(loadSettings({ ...production, REDIS_URI: 'x', REDIS_URL: 'redis://h' }).warnings).toHaveLength(1);
    });

    it('warn of settings that have no effect without REDIS_URL', () => {
      const warnings = ['REDIS_KEY_PREFIX has no effect without REDIS_URL.'];
      expect(loadSettings({ ...production, REDIS_KEY_PREFIX: 'a:' }).warnings).toEqual(warnings);
      expect(loadSettings({ ...production, REDIS_KEY_PREFIX: 'a:', REDIS_URL: 'redis://h' }).warnings).toEqual([]);
    });

    it('ignore variables of other programs', () => {
      const names = `PATH HOME HOSTNAME HOSTTYPE SHELL LANG TZ USER LOGNAME PWD TERM TMPDIR MAIL EDITOR CI DEBUG ENV HOSTS PORTS
        NODE_ENV NODE_OPTIONS NODE_VERSION NODE_EXTRA_CA_CERTS NODE_COMPILE_CACHE YARN_VERSION UV_THREADPOOL_SIZE GLIBC_TUNABLES
        npm_config_loglevel npm_config_user_agent npm_lifecycle_event npm_package_name npm_package_version npm_node_execpath
        KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT_443_TCP_ADDR POD_NAME POD_IP NAMESPACE
        REDIS_HOST REDIS_PORT REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT_6379_TCP REDIS_PORT_6379_TCP_PORT REDIS_PASSWORD
        REDIS_USER REDIS_USERNAME REDIS_DB REDIS_TLS REDIS_SSL REDIS_TTL REDIS_TLS_URL REDIS_CLIENT REDIS_VERSION REDISCLOUD_URL
        PETSTORE_PORT PETSTORE_SERVICE_HOST PETSTORE_SERVICE_PORT PETSTORE_PORT_3000_TCP_ADDR METRICS_SERVICE_HOST LOG_PATH
        POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB POSTGRES_HOST POSTGRES_URL POSTGRES_URI PGHOST PGPORT PGUSER PGPASSWORD
        DATABASE_HOST DATABASE_PORT DATABASE_NAME DATABASE_USER DATABASE_PASSWORD DATABASE_SSL DATABASE_SERVICE_HOST DB_URL DB_HOST
        DATABASE_POOL_SIZE DATABASE_POOL_MIN TEST_DATABASE_URL SHADOW_DATABASE_URL HEROKU_POSTGRESQL_AMBER_URL DYNO WEB_CONCURRENCY
        WEBSITE_HOSTNAME AZURE_CLIENT_ID AWS_REGION AWS_ACCESS_KEY_ID ECS_CONTAINER_METADATA_URI GOOGLE_CLOUD_PROJECT K_SERVICE
        APP_NAME APP_KEY APP_DEBUG APP_URL APP_PORT API_ENV API_URL BASE_URL PUBLIC_URL REDIRECT_URL REDIRECT_URI LOG_FORMAT
        DD_ENV DD_AGENT_HOST DD_LOG_LEVEL SENTRY_DSN SENTRY_ENVIRONMENT RATE_LIMIT TRUST_STORE SSL_CERT_FILE SSL_CERT_DIR
        OTEL_SERVICE_NAME OTEL_RESOURCE_ATTRIBUTES OTEL_LOG_LEVEL OTEL_TRACES_EXPORTER OTEL_TRACES_SAMPLER OTEL_PROPAGATORS
        OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_TIMEOUT OTEL_EXPORTER_OTLP_CERTIFICATE OTEL_EXPORTER_OTLP_LOGS_ENDPOINT
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT OTEL_EXPORTER_OTLP_METRICS_PROTOCOL OTEL_EXPORTER_OTLP_TRACES_HEADERS`;
      const others = Object.fromEntries(names.split(/\s+/).map((name) => [name, 'x'])) as Record<string, string>;
      expect(loadSettings({ ...others, ...production }).warnings).toEqual([]);
    });
  });

  it.each(['APPENV', 'APP_ENVIRONMENT', 'APP_ENVS', 'PETSTORE_APP_ENV'])(
    'are not those of development because %s is set instead of APP_ENV',
    (variable) => {
      expect(() => loadSettings({ [variable]: 'production' })).toThrow(
        `${variable} is not a setting; did you mean APP_ENV?`,
      );
      expect(loadSettings({ [variable]: 'x', APP_ENV: 'development' }).warnings).toEqual([]);
    },
  );

  it.each([
    ['', []],
    ['rediss://a:1, rediss://b', ['rediss://a:1', 'rediss://b']],
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
