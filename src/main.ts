import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from './app.setup';
import { InvalidSettings, loadSettings, localOrigin, type Settings } from './config/settings';
import { demoKey } from './demo';
import { DatabaseSetupError } from './shared/persistence/database';
import { EmbeddedDatabaseError } from './shared/persistence/embedded-database';

async function start(): Promise<void> {
  const settings = loadSettings(process.env);
  const app = await createApp(settings);
  try {
    await app.init();
    const key = settings.environment === 'development' ? await demoKey(app, settings.dataDir) : undefined;
    // Nest's own listen would log the error of a port in use before it is explained below.
    await app.getHttpAdapter().getInstance().listen({ port: settings.port, host: settings.host });
    process.stdout.write(
      key === undefined ? `Listening on ${settings.host}:${settings.port}.\n` : welcome(settings, key),
    );
  } catch (error) {
    await app.close();
    throw error;
  }
  (['SIGTERM', 'SIGINT'] as const).forEach((signal) => {
    process.once(signal, () => {
      void stop(app);
    });
  });
}

/** Lets requests in flight end, then closes the database. */
async function stop(app: NestFastifyApplication): Promise<void> {
  await app.close();
  process.exit();
}

function welcome(settings: Settings, key: string): string {
  const address = localOrigin(settings);
  return `
  Pet store, listening on ${address}

  Swagger UI  ${address}/docs
  Demo key    ${key}
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
