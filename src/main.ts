// First, as it watches what is loaded after it.
import { tracing } from './tracing';
import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from './app.setup';
import { InvalidSettings, loadSettings, localOrigin, type Settings } from './config/settings';
import { VERSION } from './config/version';
import { demoKey } from './demo';
import { createLog, type Log } from './observability';
import { DatabaseSetupError } from './shared/persistence/database';
import { EmbeddedDatabaseError } from './shared/persistence/embedded-database';

/** How long a replica that has been drained may take to end, whatever hangs. */
const STOP_LIMIT_MS = 6_000;

async function start(): Promise<void> {
  const settings = loadSettings(process.env);
  const log = createLog(settings);
  const app = await createApp(settings, { log });
  tracing?.traceRequests(app.getHttpAdapter().getInstance());
  try {
    await app.init();
    const key = settings.environment === 'development' ? await demoKey(app, settings.dataDir) : undefined;
    // Nest's own listen would log the error of a port in use before it is explained below.
    await app.getHttpAdapter().getInstance().listen({ port: settings.port, host: settings.host });
    // Before anybody is told that it runs, and may want it to stop.
    (['SIGTERM', 'SIGINT'] as const).forEach((signal) => {
      process.once(signal, () => {
        log.info({ event: 'stopping', signal }, 'Stopping.');
        void stop(app, settings, log);
      });
    });
    if (key === undefined) {
      logStart(log, settings);
    } else {
      process.stdout.write(welcome(settings, key));
    }
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Takes the replica out of service, lets requests in flight end, then closes Redis and the database. */
async function stop(app: NestFastifyApplication, { drainSeconds }: Settings, log: Log): Promise<void> {
  setTimeout(() => process.exit(), drainSeconds * 1_000 + STOP_LIMIT_MS);
  await app.close();
  await tracing?.stop();
  log.info({ event: 'stopped' }, 'Stopped.');
  process.exit();
}

function logStart(log: Log, { environment, host, port, metricsPort, redisUrls }: Settings): void {
  const counts = redisUrls.length === 0 ? 'memory' : 'redis';
  const inMemory = ' Requests are counted in memory, which is right for one replica. Set REDIS_URL to run several.';
  log.info(
    { event: 'started', version: VERSION, node: process.versions.node, environment, host, port, metricsPort, counts },
    `Listening on ${host}:${port}.${counts === 'memory' ? inMemory : ''}`,
  );
}

function welcome(settings: Settings, key: string): string {
  const address = localOrigin(settings);
  const swaggerUi = settings.docsEnabled ? `\n  Swagger UI  ${address}/docs` : '';
  return `
  Pet store, listening on ${address}
${swaggerUi}
  Demo key    ${key}
  Limits      counted in ${settings.redisUrls.length === 0 ? 'memory, right for one replica' : 'Redis, for all replicas together'}
  Try         curl -i ${address}/v1/pets -H 'Authorization: Bearer ${key}'
`;
}

function explain(error: unknown, { HOST = '127.0.0.1', PORT = '3000' }: NodeJS.ProcessEnv): string {
  if (
    error instanceof InvalidSettings ||
    error instanceof EmbeddedDatabaseError ||
    error instanceof DatabaseSetupError
  ) {
    return error.message;
  }
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `Port ${PORT} on ${HOST} is in use. Stop the process that uses it, or set PORT to another port.`;
    case 'EACCES':
      return `Port ${PORT} on ${HOST} is not allowed for this user. Set PORT to another port.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST ${HOST} is not an address of this machine.`;
    default:
      return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

start().catch((error: unknown) => {
  process.stderr.write(`${explain(error, process.env)}\n`);
  process.exitCode = 1;
});
