import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { type Format, httpUrl, integer, matching, oneOf, postgresUrl, url } from './formats';

/** The settings that an operator provides as environment variables. docs/configuration.md documents them. */
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
  /** The gateways whose `X-Forwarded-For` is trusted: none, a number of hops, or their IP addresses and CIDR ranges. */
  abstract readonly trustProxy: false | number | string[];
  /** How long a stopping replica continues to accept new connections, in seconds. */
  abstract readonly drainSeconds: number;
  /** Whether the guides, Swagger UI and the OpenAPI document are served. */
  abstract readonly docsEnabled: boolean;
  abstract readonly logLevel: LogLevel;
  /** The separate port for metrics; if undefined, they are served at `/metrics` of `port`. */
  abstract readonly metricsPort: number | undefined;

  /** Returns the settings that a module declared. */
  abstract readonly get: <D extends SettingDeclarations>(declarations: D) => DeclaredSettings<D>;
}

/** The minimum severity of logged lines. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** One or more settings are invalid; the message has one line per setting. */
export class InvalidSettingsError extends Error {}

/** Enough for a gateway that checks readiness every second. */
const DEFAULT_DRAIN_SECONDS = 3;

/** The query parameters of a sentinel URL, named as in ioredis. */
const SENTINEL_PARAMETERS = ['name', 'sentinelUsername', 'sentinelPassword'];

/** The format of a setting, and its default value. */
type Setting = readonly [
  format: Format<unknown>,
  defaultValue: string | number | boolean | readonly unknown[] | undefined,
];

const CORE_SETTINGS = {
  APP_ENV: [oneOf('development', 'staging', 'production'), 'development'],
  HOST: [matching(/^[A-Za-z0-9.:_-]{1,255}$/, 'be an IP address or a host name to listen on'), '127.0.0.1'],
  PORT: [integer(1, 65_535), 3000],
  DATA_DIR: [matching(/./, 'be a directory'), '.data'],
  DATABASE_URL: [postgresUrl(), undefined],
  MIGRATE_ON_START: [oneOf('true', 'false'), 'true'],
  REDIS_URL: [
    {
      requirement:
        'be a Redis URL: redis://user:password@host:6379/0 for one server, redis+cluster://host:6379 for a Redis Cluster, or ' +
        'redis+sentinel://host:26379,host:26379/0?name=mymaster for sentinels; with TLS, rediss instead of redis',
      parse: parseRedisUrls,
    },
    [],
  ],
  PUBLIC_BASE_URL: [apiBaseUrl(), undefined],
  STAGING_BASE_URL: [apiBaseUrl(), undefined],
  TRUST_PROXY: [
    {
      requirement: 'be the number of gateways (0 to 10), or their IP addresses or CIDR ranges, separated by commas',
      parse: parseTrustProxy,
    },
    false,
  ],
  DRAIN_SECONDS: [integer(0, 300), undefined],
  DOCS_ENABLED: [oneOf('true', 'false'), 'true'],
  LOG_LEVEL: [oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'info'],
  METRICS_PORT: [integer(1, 65_535), undefined],
  OTEL_SDK_DISABLED: [oneOf('true', 'false'), 'false'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [httpUrl('http://127.0.0.1:4318'), undefined],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [httpUrl('http://127.0.0.1:4318/v1/traces'), undefined],
  OTEL_EXPORTER_OTLP_PROTOCOL: [oneOf('http/protobuf', 'http/json'), 'http/protobuf'],
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: [oneOf('http/protobuf', 'http/json'), undefined],
} satisfies Record<string, Setting>;

/** All settings by environment variable, including those of the loaded modules. */
export const SETTINGS: Record<string, Setting> = { ...CORE_SETTINGS };

type Values = {
  [Name in keyof typeof CORE_SETTINGS]: Value<(typeof CORE_SETTINGS)[Name]>;
};
type Value<S extends Setting> = S extends readonly [Format<infer T>, infer Default]
  ? T | (Default extends undefined ? undefined : never)
  : never;

/** The settings of a module: property name, environment variable, format and default. */
export type SettingDeclarations = Readonly<Record<string, readonly [variable: string, ...setting: Setting]>>;

export type DeclaredSettings<D extends SettingDeclarations> = {
  readonly [Name in keyof D]: D[Name] extends readonly [string, ...infer S extends Setting] ? Value<S> : never;
};

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
 * Reads and validates the settings. An empty variable counts as unset.
 * @throws InvalidSettingsError with one line per invalid setting. The message never contains values, which may be secret.
 */
export function loadSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const values = readValues(withSecretFiles(env));
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
    logLevel: values.LOG_LEVEL,
    metricsPort: values.METRICS_PORT,
    get: (declarations) => pickSettings(values, declarations),
  };
}

function readValues(env: Readonly<Record<string, string | undefined>>): Values {
  const problems: string[] = [];
  const entries = Object.entries(SETTINGS).map(([name, [format, defaultValue]]) => {
    const text = env[name] ?? '';
    const value = text === '' ? defaultValue : format.parse(text);
    if (text !== '' && value === undefined) {
      problems.push(`${name} must ${format.requirement}.`);
    }
    return [name, value];
  });
  const values = Object.fromEntries(entries) as Values;
  if (problems.length === 0 && values.APP_ENV !== 'development' && values.DATABASE_URL === undefined) {
    problems.push(`DATABASE_URL is required when APP_ENV is ${values.APP_ENV}.`);
  }
  if (problems.length === 0 && values.METRICS_PORT === values.PORT) {
    problems.push('METRICS_PORT must differ from PORT.');
  }
  if (problems.length > 0) {
    throw new InvalidSettingsError(problems.join('\n'));
  }
  return values;
}

function apiBaseUrl(): Format<string> {
  return url(
    'be an http or https URL that ends in /v1, such as https://api.example.com/v1',
    (url) =>
      /^https?:$/.test(url.protocol) && url.pathname.endsWith('/v1') && !url.search && !url.hash && !url.username,
  );
}

/** @returns one URL per host; the text around a list of hosts is repeated for each */
function parseRedisUrls(text: string): string[] | undefined {
  const [, start = '', schemeSuffix = '', hosts = '', end = ''] =
    /^(rediss?\+(cluster|sentinel):\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/.exec(text) ?? [];
  const urls =
    start === ''
      ? text.split(',').map((each) => each.trim())
      : hosts.split(',').map((host) => `${start}${host.trim()}${end}`);
  // Several URLs name the nodes of a cluster.
  const topology = schemeSuffix === '' && urls.length > 1 ? 'cluster' : schemeSuffix;
  return urls.every((each) => isRedisUrl(each, schemeSuffix, topology)) ? urls : undefined;
}

function isRedisUrl(text: string, schemeSuffix: string, topology: string): boolean {
  if (!URL.canParse(text)) {
    return false;
  }
  const { protocol, hostname, pathname, searchParams } = new URL(text);
  if (!/^rediss?:$/.test(schemeSuffix === '' ? protocol : protocol.replace(`+${schemeSuffix}`, ''))) {
    return false;
  }
  switch (topology) {
    case 'cluster':
      // A cluster only has database 0.
      return /^\/?0?$/.test(pathname) && (schemeSuffix === '' || (hostname !== '' && searchParams.size === 0));
    case 'sentinel':
      return (
        hostname !== '' &&
        /^(\/\d*)?$/.test(pathname) &&
        Boolean(searchParams.get('name')) &&
        [...searchParams.keys()].every((name) => SENTINEL_PARAMETERS.includes(name))
      );
    default:
      return true;
  }
}

/** Adds the settings whose values are read from files, such as mounted secrets. */
function withSecretFiles(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const settings = { ...env };
  for (const name of ['DATABASE_URL', 'DATABASE_MIGRATION_URL', 'DATABASE_READ_URL', 'REDIS_URL']) {
    const path = env[`${name}_FILE`];
    if (!path) {
      continue;
    }
    if (settings[name]) {
      throw new InvalidSettingsError(`${name} and ${name}_FILE must not both be set.`);
    }
    settings[name] = readSettingFile({ label: `${name}_FILE`, path }).trim();
  }
  return settings;
}

/** A file and its label for messages: the setting, or the URL parameter that overrides the setting. */
export interface SettingFile {
  readonly label: string;
  readonly path: string;
}

/** @throws InvalidSettingsError when the file cannot be read */
export function readSettingFile({ label, path }: SettingFile): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidSettingsError(
      `${label} names a file that cannot be read (${(error as NodeJS.ErrnoException).code}).`,
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
  return docsEnabled ? `${baseUrl.slice(0, -'/v1'.length)}/docs` : undefined;
}

function parseTrustProxy(text: string): false | number | string[] | undefined {
  if (/^\d+$/.test(text)) {
    const hops = Number(text);
    return hops > 10 ? undefined : hops || false;
  }
  const ranges = text.split(',').map((range) => range.trim());
  return ranges.every(isCidr) ? ranges : undefined;
}

function isCidr(text: string): boolean {
  const [ip = '', prefix = '0', ...rest] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(ip)] ?? -1;
  return rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits;
}
