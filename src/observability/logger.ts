import type { LoggerService } from '@nestjs/common';
import { destination, pino } from 'pino';
import type { Settings } from '../config/settings';

/** Accepts lines of text. */
export interface LineSink {
  write(line: string): unknown;
}

/** Lines are buffered for at most this long, and up to this many bytes. */
const FLUSH_MS = 100;
const FLUSH_BYTES = 8_192;
/** How much is buffered for a log reader that hangs; beyond that, lines are dropped to bound memory. */
const MAX_WAITING_BYTES = 16_777_216;

/** The contexts of the framework's own startup messages. */
const FRAMEWORK = new Set<unknown>([
  'NestApplication',
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** The log: one JSON object per line, to standard output; in development, readable lines. */
export type Log = pino.Logger;

export function createLog({ environment, logLevel }: Pick<Settings, 'environment' | 'logLevel'>, sink?: LineSink): Log {
  return pino(
    {
      level: logLevel,
      // No process ID or host name: whoever collects the logs of several replicas adds their source.
      base: null,
      timestamp: timeField(),
      formatters: { level: (level) => ({ level }) },
    },
    environment === 'development'
      ? { write: (line) => (sink ?? process.stdout).write(readable(line)) }
      : (sink ?? standardOutput()),
  );
}

/** Writes in the background, in large chunks; pino flushes the rest when the process exits. */
function standardOutput(): LineSink {
  return destination({
    fd: 1,
    sync: false,
    minLength: FLUSH_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_MS,
  });
}

/** Formats the time (RFC 3339) once per millisecond: formatting it for each line would be half the cost of a line. */
function timeField(): () => string {
  let [last, field] = [0, ''];
  return () => {
    const now = Date.now();
    if (now !== last) {
      [last, field] = [now, `,"time":"${new Date(now).toISOString()}"`];
    }
    return field;
  };
}

function readable(line: string): string {
  const { level, time, event, msg, stack, ...fields } = JSON.parse(line) as Record<'level' | 'time', string> &
    Record<string, unknown>;
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const words = [time.slice(11, 23), level.toUpperCase().padEnd(5), msg ?? event, ...pairs];
  return `${words.join(' ')}\n${typeof stack === 'string' ? `${stack}\n` : ''}`;
}

/** Nest's logger, writing to the log: fields as an object, then a message and, at the end, the context. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Log) {}

  log(message: unknown, ...params: unknown[]): void {
    this.write(FRAMEWORK.has(params.at(-1)) ? 'debug' : 'info', message, params);
  }

  error(message: unknown, ...params: unknown[]): void {
    // Nest tells of a start that failed, which `main.ts` logs as `start_failed`.
    this.write(params.at(-1) === 'ExceptionHandler' ? 'debug' : 'error', message, params);
  }

  warn(message: unknown, ...params: unknown[]): void {
    this.write('warn', message, params);
  }

  debug(message: unknown, ...params: unknown[]): void {
    this.write('debug', message, params);
  }

  verbose(message: unknown, ...params: unknown[]): void {
    this.write('trace', message, params);
  }

  fatal(message: unknown, ...params: unknown[]): void {
    this.write('fatal', message, params);
  }

  private write(level: pino.Level, message: unknown, params: readonly unknown[]): void {
    const [context, ...details] = [params.at(-1), ...params.slice(0, -1)];
    if (message instanceof Error) {
      this.logger[level]({ context, stack: message.stack }, message.message);
    } else if (typeof message === 'object') {
      this.logger[level]({ context, ...message }, details.map(String).join(' ') || undefined);
    } else {
      // Nest passes a stack after the message of an error.
      this.logger[level](
        { context, ...(details.length > 0 && { stack: details.map(String).join(' ') }) },
        message as string,
      );
    }
  }
}
