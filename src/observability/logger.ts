import { inspect } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import { SonicBoom } from 'sonic-boom';
import { BRAND, IDENTIFIER } from '../config/brand';
import type { Settings } from '../config/settings';
import { escapeControlCharacters } from '../shared/domain/text';
import { LOG_EVENTS, type LogEvent } from '../shared/log-events';

/** Accepts lines of text. */
export interface LineSink {
  write(line: string): unknown;
}

/** Lines are buffered for at most this long, and up to this many bytes. */
const FLUSH_INTERVAL_MS = 100;
const FLUSH_BYTES = 8_192;
/** The maximum size of the buffer while the reader of the log hangs. Further lines are dropped. */
const MAX_BUFFER_BYTES = 16_777_216;

/** The contexts of the framework's own startup messages. */
const FRAMEWORK_CONTEXTS = new Set<unknown>([
  'NestApplication',
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** The contexts in which Nest reports a failed startup, which the service reports itself. */
const STARTUP_ERROR_CONTEXTS = new Set<unknown>(['ExceptionHandler', 'NestApplication']);

/** Elastic Common Schema, whose names for requests and traces are also those of OpenTelemetry's semantic conventions. */
const SCHEMA_VERSION = '8.11.0';

/** The log: one JSON object per line on standard output, in the Elastic Common Schema; in development, readable text. */
export type Log = pino.Logger;

export function createLog({ environment, logLevel }: Pick<Settings, 'environment' | 'logLevel'>, sink?: LineSink): Log {
  return pino(
    {
      level: logLevel,
      // No process ID or host name: the log collector adds the source.
      base: { 'ecs.version': SCHEMA_VERSION, 'service.name': BRAND.name },
      messageKey: 'message',
      timestamp: () => `,"@timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ 'log.level': level }) },
    },
    environment === 'development'
      ? { write: (line) => (sink ?? process.stdout).write(formatReadable(line)) }
      : (sink ?? createStandardOutput()),
  );
}

/** Logs an event with its level, before there is an application, or outside it. */
export function writeEvent(log: Log, event: LogEvent, message: string, fields: object = {}): void {
  const [level] = LOG_EVENTS[event];
  log[level]({ 'event.action': event, ...fields }, message);
}

/**
 * Writes in the background, in large chunks, and never waits: `flushSync`, which pino's own destination calls for fatal errors and when the
 * process exits, does not return while nobody reads the log or its disk is full.
 */
function createStandardOutput(): LineSink & Pick<SonicBoom, 'flush'> {
  const output = new SonicBoom({
    fd: 1,
    sync: false,
    minLength: FLUSH_BYTES,
    maxLength: MAX_BUFFER_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
  });
  // The lines remain in the buffer until they can be written.
  output.on('error', () => undefined);
  return {
    write: (line) => output.write(line),
    flush: (onFlushed) => {
      output.flush(onFlushed);
    },
  };
}

/** A line of the log. Fields that the schema does not have are in the field `IDENTIFIER`. */
interface Line extends Readonly<Record<string, unknown>> {
  readonly 'log.level': string;
  readonly '@timestamp': string;
  readonly 'event.action'?: string;
  /** The duration in nanoseconds. */
  readonly 'event.duration'?: number;
  readonly message?: string;
  readonly 'error.stack_trace'?: string;
}

/** Fields that are constant or part of the message. */
const SKIPPED_FIELDS = /^(ecs|service|http\.(route|response|request\.method))\b/;

function formatReadable(line: string): string {
  const {
    'log.level': level,
    '@timestamp': time,
    'event.action': action,
    'event.duration': duration,
    'error.stack_trace': stack,
    message,
    [IDENTIFIER]: ownFields,
    ...fields
  } = JSON.parse(line) as Line;
  const pairs = Object.entries({
    ...fields,
    ...(duration !== undefined && { ms: duration / 1_000_000 }),
    ...(ownFields as object | undefined),
  }).flatMap(([name, value]) =>
    SKIPPED_FIELDS.test(name)
      ? []
      : `${name.split('.').at(-1)}=${typeof value === 'string' ? escapeControlCharacters(value) : JSON.stringify(value)}`,
  );
  const words = [time.slice(11, 23), level.toUpperCase().padEnd(5), message ?? action, ...pairs];
  const lines = `${words.join(' ')}\n${stack === undefined ? '' : `${stack}\n`}`;
  return lines.split('\n').map(escapeControlCharacters).join('\n');
}

/** The fields that `logEvent` passes to Nest's logger. */
interface EventFields extends Readonly<Record<string, unknown>> {
  readonly event: LogEvent;
  /** The request ID. */
  readonly id?: string;
  readonly stack?: string;
}

/**
 * Writes Nest's log calls to the log. A call passes messages and objects of fields, and the context as its last argument. After the message
 * of an error, texts are its stack.
 */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Log) {}

  log(message: unknown, ...params: unknown[]): void {
    this.write(FRAMEWORK_CONTEXTS.has(params.at(-1)) ? 'debug' : 'info', message, params);
  }

  error(message: unknown, ...params: unknown[]): void {
    this.write(STARTUP_ERROR_CONTEXTS.has(params.at(-1)) ? 'debug' : 'error', message, params);
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
    const source = { 'log.logger': params.at(-1) };
    const details = params.slice(0, -1).filter((detail) => detail !== undefined);
    if (isEvent(message)) {
      const { event, id, stack, ...ownFields } = message;
      const fields = { 'http.request.id': id, 'error.stack_trace': stack, ...nestFields(ownFields) };
      this.logger[level](
        { 'event.action': event, ...source, ...fields },
        details.map(formatText).join(' ') || undefined,
      );
      return;
    }
    if (!this.logger.isLevelEnabled(level)) {
      return;
    }
    const fields = {};
    const stacks: unknown[] = message instanceof Error ? [message.stack] : [];
    const texts: string[] = [];
    for (const [index, each] of [message, ...details].map(resolveMessage).entries()) {
      if (isFields(each)) {
        Object.assign(fields, each);
      } else if (index > 0 && each instanceof Error) {
        stacks.push(each.stack);
      } else if (texts.length > 0 && (level === 'error' || level === 'fatal')) {
        stacks.push(formatText(each));
      } else {
        texts.push(formatText(each));
      }
    }
    const [text, ...others] = texts;
    this.logger[level]({ ...source, 'error.stack_trace': stacks.join('\n') || undefined, ...nestFields(fields) }, text);
    others.forEach((other) => {
      this.logger[level](source, other);
    });
  }
}

function isEvent(message: unknown): message is EventFields {
  return isFields(message) && typeof message.event === 'string' && Object.hasOwn(LOG_EVENTS, message.event);
}

/** Whether it is an object of fields, unlike an array, an error or a `Map`. */
function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(Symbol.iterator in value || value instanceof Error || value instanceof Date)
  );
}

/** Calls a function that creates a message, as Nest's own logger does. */
function resolveMessage(message: unknown): unknown {
  if (typeof message !== 'function') {
    return message;
  }
  const isClass = Function.prototype.toString.call(message).startsWith('class ');
  return isClass ? message.name : resolveMessage((message as () => unknown)());
}

function formatText(value: unknown): string {
  if (value instanceof Error) {
    return value.message;
  }
  return typeof value === 'string' ? value : inspect(value);
}

/** Returns the fields of the service as its log has them, apart from those of the Elastic Common Schema. */
function nestFields(fields: object): object {
  return Object.keys(fields).length > 0 ? { [IDENTIFIER]: fields } : {};
}
