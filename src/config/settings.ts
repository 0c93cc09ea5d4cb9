import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { BRAND } from './brand';
import { type Format, httpUrl, integer, matching, oneOf, postgresUrl, url } from './formats';
import { findMisspeltSetting } from './misspelt-settings';
import { redisUrls } from './redis-urls';

/** The settings that an operator provides as environment variables. */
export abstract class Settings {
  abstract readonly environment: 'development' | 'staging' | 'production';
  abstract readonly host: string;
  abstract readonly port: number;
  /** The directory of the embedded database and the demo key. */
  abstract readonly dataDir: string;
  /** A PostgreSQL URL; if undefined, the embedded database in `dataDir` is used. */
  abstract readonly databaseUrl: string | undefined;
  /** Whether pending migrations run at startup; otherwise startup waits until they have run. */
  abstract readonly migrateOnStart: boolean;
  /**
   * The shared Redis server, the nodes of a Redis Cluster, or the sentinels: one URL per host. If empty, requests are counted
   * in memory.
   */
  abstract readonly redisUrls: readonly string[];
  abstract readonly publicBaseUrl: string | undefined;
  abstract readonly stagingBaseUrl: string | undefined;
  /** The base URL of links in responses. It ends in `/v1`, without a trailing slash. */
  abstract readonly baseUrl: string;
  /** The gateways whose `X-Forwarded-For` is trusted: a number of hops, or their IP addresses and CIDR ranges; false if not set. */
  abstract readonly trustProxy: false | number | string[];
  /** How long a stopping replica continues to accept new connections, in seconds. */
  abstract readonly drainSeconds: number;
  /** Whether the guides, Swagger UI and the OpenAPI document are served. */
  abstract readonly docsEnabled: boolean;
  /** Where the documentation links to the source and to support; if undefined, it does not. */
  abstract readonly docsRepositoryUrl: string | undefined;
  abstract readonly docsSupportUrl: string | undefined;
  abstract readonly logLevel: LogLevel;
  /** The separate port for metrics; if undefined, they are served at `/metrics` of `port`. */
  abstract readonly metricsPort: number | undefined;
  /** What is probably wrong with the environment, for the log. */
  abstract readonly warnings: readonly string[];

  /** Returns the settings that a module declared. */
  abstract readonly get: <D extends SettingDeclarations>(declarations: D) => DeclaredSettings<D>;
}

/** The minimum severity of logged lines. */
type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** One or more settings are invalid; the message has one line per setting. */
export class InvalidSettingsError extends Error {}

/** Enough for a gateway that checks readiness every second. */
const DEFAULT_DRAIN_SECONDS = 3;

/** The settings whose values can be read from a file, such as a mounted secret. */
const SECRETS = ['DATABASE_URL', 'DATABASE_MIGRATION_URL', 'DATABASE_READ_URL', 'REDIS_URL'];

/** Settings on which security or limits depend: the service does not start if one of them is misspelt. */
const CRITICAL = /^(APP_ENV|DATABASE_URL|TRUST_PROXY)$|^(AUTH|BAN|REDIS)_|_FILE$/;

/** The format of a setting, its default value, and what docs/reference.md says about it. */
type Setting = readonly [
  format: Format<unknown>,
  defaultValue: string | number | boolean | readonly unknown[] | undefined,
  description?: string,
];

const CORE_SETTINGS = {
  APP_ENV: [oneOf('development', 'staging', 'production'), 'development', 'the [environment](#environments)'],
  HOST: [
    matching(/^[A-Za-z0-9.:_-]{1,255}$/, 'be an IP address or a host name to listen on'),
    '127.0.0.1',
    'IP address or host name to listen on',
  ],
  PORT: [integer(1, 65_535), 3000, 'port to listen on'],
  DATA_DIR: [matching(/./, 'be a directory'), '.data', 'directory of the embedded database and of the demo key'],
  DATABASE_URL: [
    postgresUrl(),
    undefined,
    `[PostgreSQL](#database): \`postgres://user:password@host:5432/${BRAND.name}\`, with one host`,
  ],
  MIGRATE_ON_START: [oneOf('true', 'false'), 'true', 'whether replicas update the schema when they start'],
  REDIS_URL: [redisUrls(), [], '[Redis](#redis): a server, a Redis Cluster or sentinels'],
  PUBLIC_BASE_URL: [apiBaseUrl(), undefined, '[base URL](#base-url) of production, which ends in `/v1`'],
  STAGING_BASE_URL: [apiBaseUrl(), undefined, 'base URL of staging, which ends in `/v1`'],
  TRUST_PROXY: [
    {
      requirement: 'be the number of gateways (0 to 10), or their IP addresses or CIDR ranges, separated by commas',
      parse: parseTrustProxy,
    },
    false,
    '[gateways](operating.md#gateway) whose `X-Forwarded-For` is trusted: their number (0 to 10), or their IP addresses or CIDR ranges, ' +
      'separated by commas',
  ],
  DRAIN_SECONDS: [
    integer(0, 300),
    undefined,
    `seconds in which a stopping replica accepts new connections (by default ${DEFAULT_DRAIN_SECONDS}, in development 0)`,
  ],
  DOCS_ENABLED: [oneOf('true', 'false'), 'true', 'whether the documentation is served, and responses link to it'],
  DOCS_REPOSITORY_URL: [
    httpUrl('https://git.example/acme/petstore'),
    undefined,
    'where the documentation links to the source',
  ],
  DOCS_SUPPORT_URL: [httpUrl('https://support.example'), undefined, 'where the documentation links to support'],
  LOG_LEVEL: [
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'least severe level that is logged',
  ],
  METRICS_PORT: [integer(1, 65_535), undefined, 'separate port for `/metrics`'],
  OTEL_SDK_DISABLED: [oneOf('true', 'false'), 'false', 'whether traces are off'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    httpUrl('http://127.0.0.1:4318'),
    undefined,
    'base URL that [traces](operating.md#traces) are sent to, such as `http://127.0.0.1:4318`',
  ],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [
    httpUrl('http://127.0.0.1:4318/v1/traces'),
    undefined,
    'full URL that traces are sent to, instead of the base URL',
  ],
  OTEL_EXPORTER_OTLP_PROTOCOL: [oneOf('http/protobuf', 'http/json'), 'http/protobuf', 'format of traces'],
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: [
    oneOf('http/protobuf', 'http/json'),
    undefined,
    'format of traces, instead of the previous setting',
  ],
} satisfies Record<string, Setting>;

/** All settings by environment variable, including those of the loaded modules. */
export const SETTINGS: Record<string, Setting> = { ...CORE_SETTINGS };

type Values = {
  [Name in keyof typeof CORE_SETTINGS]: Value<(typeof CORE_SETTINGS)[Name]>;
};
type Value<S extends Setting> = S extends readonly [Format<infer T>, infer Default, string?]
  ? T | (Default extends undefined ? undefined : never)
  : never;

/** The settings of a module: property name, environment variable, format, default and description. */
type SettingDeclarations = Readonly<Record<string, readonly [variable: string, ...setting: Setting]>>;

export type DeclaredSettings<D extends SettingDeclarations> = {
  readonly [Name in keyof D]: D[Name] extends readonly [string, ...infer S extends Setting] ? Value<S> : never;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Declares the settings of a module. They are validated at startup with all others and read through `Settings.get`. */
export function declareSettings<const D extends SettingDeclarations>(declarations: D): D {
  for (const [variable, ...setting] of Object.values(declarations)) {
    if (Object.hasOwn(SETTINGS, variable)) {
      throw new Error(`The setting ${variable} is declared twice.`);
    }
    SETTINGS[variable] = setting;
  }
  return declarations;
}

function pickSettings<D extends SettingDeclarations>(values: Values, declarations: D): DeclaredSettings<D> {
  const entries = Object.entries(declarations).map(([name, [variable]]) => {
    if (!Object.hasOwn(values, variable)) {
      throw new Error(`The setting ${variable} was declared after the settings were read.`);
    }
    return [name, (values as Readonly<Record<string, unknown>>)[variable]];
  });
  return Object.fromEntries(entries) as DeclaredSettings<D>;
}

/**
 * Reads and validates the settings. An empty variable counts as unset, and white space around a value is ignored.
 * @throws InvalidSettingsError with one line per invalid setting. The message never contains values, which may be secret.
 */
export function loadSettings(env: Environment): Settings {
  const { values, warnings } = readValues(readSecrets(env));
  const environmentBaseUrl = values.APP_ENV === 'staging' ? values.STAGING_BASE_URL : values.PUBLIC_BASE_URL;
  return {
    environment: values.APP_ENV,
    host: values.HOST,
    port: values.PORT,
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DATABASE_URL,
    migrateOnStart: values.MIGRATE_ON_START === 'true',
    redisUrls: values.REDIS_URL,
    publicBaseUrl: values.PUBLIC_BASE_URL,
    stagingBaseUrl: values.STAGING_BASE_URL,
    // A relative reference (RFC 8288 section 3) is correct wherever the service is deployed.
    baseUrl:
      environmentBaseUrl ??
      (values.APP_ENV === 'development' ? `${getLocalOrigin({ host: values.HOST, port: values.PORT })}/v1` : '/v1'),
    trustProxy: values.TRUST_PROXY,
    drainSeconds: values.DRAIN_SECONDS ?? (values.APP_ENV === 'development' ? 0 : DEFAULT_DRAIN_SECONDS),
    docsEnabled: values.DOCS_ENABLED === 'true',
    docsRepositoryUrl: values.DOCS_REPOSITORY_URL,
    docsSupportUrl: values.DOCS_SUPPORT_URL,
    logLevel: values.LOG_LEVEL,
    metricsPort: values.METRICS_PORT,
    warnings,
    get: (declarations) => pickSettings(values, declarations),
  };
}

function readValues(env: Environment): { readonly values: Values; readonly warnings: readonly string[] } {
  const problems: string[] = [];
  const warnings: string[] = [];
  const entries = Object.entries(SETTINGS).map(([name, [format, defaultValue]]) => {
    const text = env[name] ?? '';
    if (text === '') {
      return [name, defaultValue];
    }
    const mistake = format.findMistake?.(text);
    const value = mistake === undefined ? format.parse(text) : undefined;
    if (value === undefined) {
      problems.push(`${name} must ${mistake ?? format.requirement}.`);
    }
    return [name, value];
  });
  const values = Object.fromEntries(entries) as Values;
  const isDevelopment = values.APP_ENV === 'development';
  for (const { variable, setting } of findMisspeltSettings(env)) {
    const isUnset = env[setting] === undefined && env[setting.replace(/_FILE$/, '')] === undefined;
    const isProblem = isUnset && CRITICAL.test(setting);
    // A misspelt APP_ENV would itself make this development.
    if (!isDevelopment || (isProblem && setting === 'APP_ENV')) {
      (isProblem ? problems : warnings).push(`${variable} is not a setting; did you mean ${setting}?`);
    }
  }
  if (!isDevelopment && env.REDIS_URL === undefined) {
    const unused = Object.keys(SETTINGS).filter((name) => name.startsWith('REDIS_') && env[name] !== undefined);
    warnings.push(...unused.map((name) => `${name} has no effect without REDIS_URL.`));
  }
  if (problems.length === 0 && !isDevelopment && values.DATABASE_URL === undefined) {
    problems.push(`DATABASE_URL is required when APP_ENV is ${values.APP_ENV}.`);
  }
  if (problems.length === 0 && values.METRICS_PORT === values.PORT) {
    problems.push('METRICS_PORT must differ from PORT.');
  }
  if (problems.length > 0) {
    throw new InvalidSettingsError(problems.join('\n'));
  }
  return { values, warnings };
}

function findMisspeltSettings(env: Environment): { readonly variable: string; readonly setting: string }[] {
  const settings = [...SECRETS.map((name) => `${name}_FILE`), ...Object.keys(SETTINGS)];
  return Object.keys(env).flatMap((variable) => {
    const setting = settings.includes(variable) ? undefined : findMisspeltSetting(variable, settings);
    return setting === undefined ? [] : { variable, setting };
  });
}

function apiBaseUrl(): Format<string> {
  return url(
    'be an http or https URL that ends in /v1, such as https://api.example.com/v1',
    ({ protocol, href, username, password }) =>
      /^https?:$/.test(protocol) && /^[^?]+\/v1$/.test(href) && username + password === '',
  );
}

/** Removes white space and empty variables, and adds the settings whose values are read from files. */
function readSecrets(env: Environment): Record<string, string | undefined> {
  // OpenTelemetry reads its variables itself, unchanged.
  const trim = (name: string, value: string) => (name.startsWith('OTEL_') ? value : value.trim());
  const settings: Record<string, string> = Object.fromEntries(
    Object.entries(env)
      .map(([name, value = '']) => [name, trim(name, value)] as const)
      .filter(([, value]) => value !== ''),
  );
  for (const name of SECRETS) {
    const label = `${name}_FILE`;
    const path = settings[label];
    if (path === undefined) {
      continue;
    }
    if (settings[name] !== undefined) {
      throw new InvalidSettingsError(`${name} and ${label} must not both be set.`);
    }
    const text = readSettingFile(label, path).trim();
    if (text === '' || /[\r\n]/.test(text)) {
      const problem = text === '' ? 'is empty' : 'has more than one line';
      throw new InvalidSettingsError(`${label} names a file that ${problem} (${path}).`);
    }
    settings[name] = text;
  }
  return settings;
}

/** @throws InvalidSettingsError when the file cannot be read */
export function readSettingFile(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidSettingsError(
      `${setting} names a file that cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}

/** Returns the origin of this process for clients on the same machine. */
export function getLocalOrigin({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  const reachableHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachableHost.includes(':') ? `[${reachableHost}]` : reachableHost}:${port}`;
}

/** Returns the URL of the documentation; undefined if it is not served. */
export function getDocsUrl({ baseUrl, docsEnabled }: Pick<Settings, 'baseUrl' | 'docsEnabled'>): string | undefined {
  return docsEnabled ? `${removeVersion(baseUrl)}/docs` : undefined;
}

/** Removes the path segment `/v1` from a base URL. */
export function removeVersion(baseUrl: string): string {
  return baseUrl.slice(0, -'/v1'.length);
}

function parseTrustProxy(text: string): false | number | string[] | undefined {
  if (/^\d+$/.test(text)) {
    const hops = Number(text);
    return hops > 10 ? undefined : hops;
  }
  const ranges = text.split(',').map((range) => range.trim());
  return ranges.every(isCidr) ? ranges : undefined;
}

function isCidr(text: string): boolean {
  const [ip = '', prefix = '1', ...rest] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(ip)] ?? -1;
  // A zone is unknown to other hosts, and a range of all addresses would let clients choose their address.
  return rest.length === 0 && !ip.includes('%') && /^0*[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= bits;
}
