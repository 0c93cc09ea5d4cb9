// First, because a signal may arrive while the rest is loaded.
import { onStopSignal } from './stop-signals';
// Before everything that it instruments.
import { tracing } from './tracing';
import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from './app.setup';
import { IDENTIFIER } from './config/brand';
import { loadSettings, type Settings } from './config/settings';
import { ensureDemoKey } from './auth';
import { createLog, type Log, writeEvent } from './observability';
import { RateLimiter } from './rate-limiting';
import { Database } from './shared/persistence/database';
import { reportStart, reportStartFailure } from './start-messages';

/** How many connections may wait to be accepted. A client that finds the queue full retries after 1 s, then 2 s. */
const BACKLOG = 4_096;
/** How long after the drain responses may still take, such as streams of events. */
const RESPONSE_TIMEOUT_MS = 5_000;
/** How long a drained replica may take to exit, even if something hangs. */
const STOP_TIMEOUT_MS = 6_000;
/** The log level that SIGUSR2 turns on and off. */
const DETAILED_LEVEL = 'debug';
/** How long writing the last log lines may take. */
const LOG_FLUSH_TIMEOUT_MS = 1_000;

/** The application passes the signal to the hooks of modules, though its interface does not declare that. */
interface Closable {
  close(signal?: string): Promise<void>;
}

/** One run of the service, for the lifetime of the process. */
class ServiceProcess {
  private readonly log: Log;
  private app: (NestFastifyApplication & Closable) | undefined;
  private started: Promise<void> = Promise.resolve();
  private exitCode: 0 | 1 | undefined;

  constructor(private readonly settings: Settings) {
    this.log = createLog(settings);
  }

  run(): void {
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        this.logUnhandled(error);
        void this.stop(1);
      });
    }
    process.on('SIGUSR2', () => {
      this.toggleLogLevel();
    });
    this.started = this.start();
    this.started.catch((error: unknown) => {
      reportStartFailure(error, this.settings.environment);
      void this.stop(1);
    });
    onStopSignal((signal) => {
      writeEvent(this.log, 'stopping', 'Stopping.', { [IDENTIFIER]: { signal } });
      void this.stop(0, signal);
    });
  }

  private async start(): Promise<void> {
    const { settings, log } = this;
    const app = (this.app = await createApp(settings, { log }));
    void app.get(Database).failure.then((error) => {
      writeEvent(log, 'database_failed', error.message);
      void this.stop(1);
    });
    tracing?.traceRequests(app.getHttpAdapter().getInstance());
    await app.init();
    const key = settings.environment === 'development' ? await ensureDemoKey(app, settings.dataDir) : undefined;
    if (this.exitCode !== undefined) {
      return;
    }
    const { port, host } = settings;
    await app.listen({ port, host, backlog: BACKLOG });
    const isCountedInRedis = settings.redisUrls.length > 0 && !app.get(RateLimiter).monitor.isDegraded;
    reportStart(log, settings, isCountedInRedis ? 'redis' : 'memory', key);
  }

  /** Switches between the level `debug` and the configured level, without a restart. */
  private toggleLogLevel(): void {
    const level = this.log.level === DETAILED_LEVEL ? this.settings.logLevel : DETAILED_LEVEL;
    this.log.level = DETAILED_LEVEL;
    writeEvent(this.log, 'log_level_changed', `The log level is now ${level}.`, { [IDENTIFIER]: { level } });
    this.log.level = level;
  }

  /** Takes the replica out of service, finishes the requests in flight, then closes Redis and the database. */
  private async stop(exitCode: 0 | 1, signal?: string): Promise<void> {
    const isStopping = this.exitCode !== undefined;
    this.exitCode = this.exitCode === 1 ? 1 : exitCode;
    if (isStopping) {
      return;
    }
    setTimeout(
      () => {
        this.exit();
      },
      this.settings.drainSeconds * 1_000 + STOP_TIMEOUT_MS,
    );
    setTimeout(
      () => {
        this.app?.getHttpServer().closeAllConnections();
      },
      this.settings.drainSeconds * 1_000 + RESPONSE_TIMEOUT_MS,
    ).unref();
    // A startup that is still in progress would reopen the connections that are closed below.
    await this.started.catch(() => undefined);
    try {
      await this.app?.close(signal);
      await tracing?.stop();
      writeEvent(this.log, 'stopped', 'Stopped.');
    } catch (error) {
      this.exitCode = 1;
      this.logUnhandled(error);
    }
    this.exit();
  }

  /** Ends the process even if its log is not read: Node would wait forever for the lines to be written. */
  private exit(): void {
    setTimeout(() => {
      process.kill(process.pid, 'SIGKILL');
      // The kernel protects process 1 from its own SIGKILL.
      process.abort();
    }, LOG_FLUSH_TIMEOUT_MS);
    this.log.flush(() => process.exit(this.exitCode));
  }

  private logUnhandled(error: unknown): void {
    const stack = error instanceof Error ? error.stack : String(error);
    const message = 'Exiting because of an unexpected error.';
    writeEvent(this.log, 'unhandled_error', message, { 'error.stack_trace': stack });
  }
}

function main(): void {
  try {
    new ServiceProcess(loadSettings(process.env)).run();
  } catch (error) {
    // The environment itself may be invalid.
    const isDevelopment = ['', 'development'].includes(process.env.APP_ENV ?? '');
    reportStartFailure(error, isDevelopment ? 'development' : 'production');
    process.exitCode = 1;
  }
}

main();
