import { BRAND, IDENTIFIER } from './config/brand';
import { InvalidSettingsError, getLocalOrigin, type Settings } from './config/settings';
import { VERSION } from './config/version';
import { createLog, type Log, writeEvent } from './observability';
import { EmbeddedDatabaseError } from './shared/persistence/embedded/embedded-database';
import { DatabaseSetupError } from './shared/persistence/startup-errors';

type RateLimitStore = 'memory' | 'redis';

/** Reports that the service accepts requests: as text with the demo key in development, in the log otherwise. */
export function reportStart(log: Log, settings: Settings, rateLimitStore: RateLimitStore, demoKey?: string): void {
  if (demoKey === undefined) {
    logStart(log, settings, rateLimitStore);
  } else {
    process.stdout.write(formatWelcomeMessage(settings, rateLimitStore, demoKey));
  }
}

function logStart(log: Log, settings: Settings, rateLimitStore: RateLimitStore): void {
  const { environment, host, port, metricsPort, redisUrls } = settings;
  const hint =
    redisUrls.length === 0
      ? ' Requests are counted in memory, which is exact for a single replica only. Set REDIS_URL to run several.'
      : ' Requests are counted in memory until Redis is available.';
  writeEvent(log, 'started', `Listening on ${host}:${port}.${rateLimitStore === 'memory' ? hint : ''}`, {
    'service.version': VERSION,
    [IDENTIFIER]: { nodeVersion: process.versions.node, environment, host, port, metricsPort, rateLimitStore },
  });
}

function formatWelcomeMessage(settings: Settings, rateLimitStore: RateLimitStore, key: string): string {
  const origin = getLocalOrigin(settings);
  const docs = settings.docsEnabled ? `\n  Docs        ${origin}/docs` : '';
  const memory = settings.redisUrls.length === 0 ? 'memory, for a single replica' : 'memory until Redis is available';
  return `
  ${BRAND.title}, listening on ${origin}
${docs}
  Demo key    ${key}
  Limits      counted in ${rateLimitStore === 'redis' ? 'Redis, across all replicas' : memory}
  Try         curl -i ${origin}/v1/pets -H 'Authorization: Bearer ${key}'
`;
}

/** Reports why the service does not start: as text in development, in the log otherwise. */
export function reportStartFailure(error: unknown, environment: Settings['environment']): void {
  const { message, stack } = explainStartFailure(error, process.env);
  if (environment === 'development') {
    process.stderr.write(`${stack ?? message}\n`);
    return;
  }
  // Independent of LOG_LEVEL, because nothing else reports why the process exits.
  const log = createLog({ environment, logLevel: 'fatal' }, process.stdout);
  message.split('\n').forEach((line) => {
    writeEvent(log, 'start_failed', line, { 'error.stack_trace': stack });
  });
}

/** @returns the stack only for errors in the code */
function explainStartFailure(
  error: unknown,
  { HOST, METRICS_PORT }: NodeJS.ProcessEnv,
): { readonly message: string; readonly stack?: string | undefined } {
  const { code, port, syscall, message, stack }: NodeJS.ErrnoException & { readonly port?: number } =
    error instanceof Error ? error : new Error(String(error));
  const isExplained =
    error instanceof InvalidSettingsError ||
    error instanceof EmbeddedDatabaseError ||
    error instanceof DatabaseSetupError;
  if (isExplained || (port === undefined && syscall !== 'getaddrinfo')) {
    return { message, stack: isExplained || syscall !== undefined ? undefined : stack };
  }
  const host = HOST === undefined || HOST === '' ? '127.0.0.1' : HOST;
  const setting = port === Number(METRICS_PORT) ? 'METRICS_PORT' : 'PORT';
  switch (code) {
    case 'EADDRINUSE':
      return {
        message: `Port ${port} on ${host} is in use. Stop the process that uses it, or set ${setting} to another port.`,
      };
    case 'EACCES':
      return { message: `Port ${port} on ${host} is not allowed for this user. Set ${setting} to another port.` };
    default:
      return { message: `HOST ${host} is not an IP address or host name of this machine.` };
  }
}
