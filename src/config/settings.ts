import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';

/** What an operator sets through the environment; the README lists each setting for users. */
export abstract class Settings {
  abstract readonly environment: 'development' | 'staging' | 'production';
  abstract readonly host: string;
  abstract readonly port: number;
  /** Where the embedded database and the demo key live. */
  abstract readonly dataDir: string;
  /** A PostgreSQL connection string; without one the embedded database in `dataDir` is used. */
  abstract readonly databaseUrl: string | undefined;
  /** The Redis that all replicas share, or nodes of a Redis Cluster; without any, requests are counted in memory. */
  abstract readonly redisUrls: readonly string[];
  abstract readonly publicBaseUrl: string | undefined;
  abstract readonly stagingBaseUrl: string | undefined;
  /** The address clients reach this process at, without a trailing slash, ending in `/v1`; links are built from it. */
  abstract readonly baseUrl: string;
  /** The gateways whose `X-Forwarded-For` is believed: none, a number of hops, or their addresses. */
  abstract readonly trustProxy: false | number | string[];
  /** How long a replica that is to stop still takes new connections, in seconds. */
  abstract readonly drainSeconds: number;
  /** Whether Swagger UI and the OpenAPI document are served. */
  abstract readonly docsEnabled: boolean;
  abstract readonly rateLimits: RateLimitSettings;
}

export interface RateLimitSettings {
  /** Failed authentications an address may send per minute. */
  readonly authFailuresPerMinute: number;
  /** How long refusals of a key are counted together, in seconds. */
  readonly banWindowSeconds: number;
  /** How long the first, second, ... ban lasts, in seconds; the last one repeats. */
  readonly banDurationsSeconds: readonly number[];
  /** How long after a ban's end the next ban is a longer one, in seconds. */
  readonly banMemorySeconds: number;
}

/** The settings are wrong; the message has one line for each. */
export class InvalidSettings extends Error {}

const WEEK_SECONDS = 604_800;
/** Enough for a gateway that asks for readiness every second. */
const DRAIN_SECONDS = 3;

function integer(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error })
    .transform(Number)
    .pipe(z.number({ error }).min(min, { error }).max(max, { error }));
}

function optionalUrl(error: string, accepts: (url: URL) => boolean) {
  return z
    .string()
    .refine((text) => URL.canParse(text) && accepts(new URL(text)), { error })
    .optional();
}

const baseUrl = optionalUrl(
  'must be an http or https address that ends in /v1, such as https://api.example.com/v1',
  (url) => /^https?:$/.test(url.protocol) && url.pathname.endsWith('/v1') && !url.search && !url.hash && !url.username,
);

const environmentSchema = z
  .object({
    APP_ENV: z
      .enum(['development', 'staging', 'production'], { error: 'must be development, staging or production' })
      .default('development'),
    HOST: z
      .string()
      .regex(/^[A-Za-z0-9.:_-]{1,255}$/, { error: 'must be an IP address or a host name to listen on' })
      .default('127.0.0.1'),
    PORT: integer(1, 65_535).default(3000),
    DATA_DIR: z.string().default('.data'),
    DATABASE_URL: optionalUrl(
      'must be a PostgreSQL address, such as postgres://user:password@host:5432/petstore',
      (url) => /^postgres(ql)?:$/.test(url.protocol),
    ),
    REDIS_URL: z
      .string()
      .transform((text) => text.split(',').map((url) => url.trim()))
      .refine((urls) => urls.every((url) => URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)), {
        error:
          'must be a Redis address, such as redis://user:password@host:6379/0, or nodes of a Redis Cluster, separated by commas',
      })
      .default([]),
    PUBLIC_BASE_URL: baseUrl,
    STAGING_BASE_URL: baseUrl,
    TRUST_PROXY: z
      .string()
      .transform(parseTrustProxy)
      .refine((value) => value !== undefined, {
        error: 'must be the number of gateways (0 to 10) or their addresses (CIDRs, separated by commas)',
      })
      .default(false),
    DRAIN_SECONDS: integer(0, 300).optional(),
    DOCS_ENABLED: z
      .enum(['true', 'false'], { error: 'must be true or false' })
      .transform((text) => text === 'true')
      .default(true),
    AUTH_FAILURES_PER_MINUTE: integer(1, 1_000_000).default(60),
    BAN_WINDOW_SECONDS: integer(1, WEEK_SECONDS).default(600),
    BAN_DURATIONS_SECONDS: z
      .string()
      .regex(/^[1-9]\d{0,5}(,[1-9]\d{0,5}){0,9}$/, {
        error: 'must be one to ten whole numbers of seconds from 1 to 999999, separated by commas',
      })
      .transform((text) => text.split(',').map(Number))
      .default([900, 3600, 86_400]),
    BAN_MEMORY_SECONDS: integer(1, WEEK_SECONDS).default(86_400),
  })
  .check(({ value, issues }) => {
    if (value.APP_ENV !== 'development' && value.DATABASE_URL === undefined) {
      issues.push({
        code: 'custom',
        input: value,
        path: ['DATABASE_URL'],
        message: `is required when APP_ENV is ${value.APP_ENV}`,
      });
    }
  });

/**
 * Reads and checks the settings. An empty variable counts as one that is not set.
 * @throws InvalidSettings with one readable line per wrong setting; values are not repeated, they may be secret.
 */
export function loadSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const present = withSecretFiles(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== '')),
  );
  const result = environmentSchema.safeParse(present);
  if (!result.success) {
    throw new InvalidSettings(
      result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}.`).join('\n'),
    );
  }
  const values = result.data;
  const ownBaseUrl = values.APP_ENV === 'staging' ? values.STAGING_BASE_URL : values.PUBLIC_BASE_URL;
  return {
    environment: values.APP_ENV,
    host: values.HOST,
    port: values.PORT,
    dataDir: resolve(values.DATA_DIR),
    databaseUrl: values.DATABASE_URL,
    redisUrls: values.REDIS_URL,
    publicBaseUrl: values.PUBLIC_BASE_URL,
    stagingBaseUrl: values.STAGING_BASE_URL,
    // A relative reference (RFC 8288 section 3) is right wherever the service is deployed without being told where.
    baseUrl:
      ownBaseUrl ??
      (values.APP_ENV === 'development' ? `${localOrigin({ host: values.HOST, port: values.PORT })}/v1` : '/v1'),
    trustProxy: values.TRUST_PROXY,
    drainSeconds: values.DRAIN_SECONDS ?? (values.APP_ENV === 'development' ? 0 : DRAIN_SECONDS),
    docsEnabled: values.DOCS_ENABLED,
    rateLimits: {
      authFailuresPerMinute: values.AUTH_FAILURES_PER_MINUTE,
      banWindowSeconds: values.BAN_WINDOW_SECONDS,
      banDurationsSeconds: values.BAN_DURATIONS_SECONDS,
      banMemorySeconds: values.BAN_MEMORY_SECONDS,
    },
  };
}

/** Adds the settings whose values are in files, as orchestrators mount secrets. */
function withSecretFiles(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const settings = { ...env };
  for (const name of ['DATABASE_URL', 'REDIS_URL']) {
    const path = env[`${name}_FILE`];
    if (path === undefined) {
      continue;
    }
    if (settings[name] !== undefined) {
      throw new InvalidSettings(`${name} and ${name}_FILE must not both be set.`);
    }
    try {
      settings[name] = readFileSync(path, 'utf8').trim();
    } catch (error) {
      throw new InvalidSettings(
        `${name}_FILE names a file that cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      );
    }
  }
  return settings;
}

/** The origin at which this process is reached from its own machine. */
export function localOrigin({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function parseTrustProxy(text: string): false | number | string[] | undefined {
  if (/^\d+$/.test(text)) {
    const hops = Number(text);
    return hops > 10 ? undefined : hops || false;
  }
  const addresses = text.split(',').map((address) => address.trim());
  return addresses.every(isCidr) ? addresses : undefined;
}

function isCidr(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits;
}
