import type { LoggerService } from '@nestjs/common';
import { destination, pino } from 'pino';
import type { Settings } from '../config/settings';

/** What takes lines of text. */
export interface LineSink {
  write(line: string): unknown;
}

/** Lines wait for more of them at most this long, and until this many bytes have come together. */
const FLUSH_MS = 100;
const FLUSH_BYTES = 8_192;
/** What is kept for a reader of the log that hangs; beyond that, lines are lost rather than memory. */
const MAX_WAITING_BYTES = 16_777_216;

/** What the framework tells about its own start. */
const FRAMEWORK = new Set<unknown>([
  'NestApplication',
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** The log: one JSON object a line, to the standard output; in development a line for people. */
export type Log = pino.Logger;

export function createLog({ environment, logLevel }: Pick<Settings, 'environment' | 'logLevel'>, sink?: LineSink): Log {
  return pino(
    {
      level: logLevel,
      // Process id and host name: whoever collects the lines of several replicas adds where they come from.
      base: null,
      timestamp: timeField(),
      formatters: { level: (level) => ({ level }) },
    },
    environment === 'development'
      ? { write: (line) => (sink ?? process.stdout).write(readable(line)) }
      : (sink ?? standardOutput()),
  );
}

/** Written in the background, in large pieces; pino sees to it that nothing is left when the process exits. */
function standardOutput(): LineSink {
  return destination({
    fd: 1,
    sync: false,
    minLength: FLUSH_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_MS,
  });
}

/** Writes the time (RFC 3339) once for all lines of a millisecond: doing it for each would be half the price of a line. */
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

/** Nest's logger, writing to the log: fields as an object, then a sentence and, at the end, where it comes from. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Log) {}

  log(message: unknown, ...params: unknown[]): void {
    this.write(FRAMEWORK.has(params.at(-1)) ? 'debug' : 'info', message, params);
  }

  error(message: unknown, ...params: unknown[]): void {
    this.write('error', message, params);
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
      // Nest gives a stack after the message of an error.
      this.logger[level](
        { context, ...(details.length > 0 && { stack: details.map(String).join(' ') }) },
        message as string,
      );
    }
  }
}
