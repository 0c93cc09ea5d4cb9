import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BRAND } from '../config/brand';
import { VERSION } from '../config/version';
import { logEvent } from '../shared/log-events';

/** How long the process waits for the collector before it exits. */
const FLUSH_TIMEOUT_MS = 1_000;
/** What makes the name of a prepared statement unique to its text and its connection (see table-statements.ts and statements.ts). */
const SUFFIXES = /(_[0-9a-f]{12})+$/;

/** The interval at which the log has a problem of OpenTelemetry, and how much of it: it may be a stack trace. */
const PROBLEM_INTERVAL_MS = 60_000;
const MAX_PROBLEM_LENGTH = 200;

/** Logs the problems of OpenTelemetry, such as an unknown sampler or a collector that is down, at most one a minute. */
class ProblemLog {
  private readonly logger = new Logger('Tracing');
  private loggedAt = -Infinity;
  /** The problem before the log could be used. */
  private first: string | undefined;
  private isOpen = false;

  record(problem: string): void {
    if (!this.isOpen) {
      this.first ??= problem;
    } else if (performance.now() - this.loggedAt >= PROBLEM_INTERVAL_MS) {
      this.loggedAt = performance.now();
      const reason = problem.slice(0, MAX_PROBLEM_LENGTH);
      logEvent(this.logger, 'traces_failed', `OpenTelemetry has a problem (${reason}).`, { reason });
    }
  }

  open(): void {
    this.isOpen = true;
    if (this.first !== undefined) {
      this.record(this.first);
    }
  }
}

/** Traces requests with OpenTelemetry, which reads its other settings from the environment itself. */
class Tracing {
  constructor(
    private readonly provider: NodeTracerProvider,
    private readonly problems: ProblemLog,
  ) {}

  /** Creates a span for each request, in the trace named by its `traceparent`, and puts the trace ID into the log. */
  traceRequests(fastify: FastifyInstance): void {
    this.problems.open();
    const tracer = trace.getTracer(BRAND.name, VERSION);
    fastify.addHook('onRequest', (request, reply, done) => {
      if (request.routeOptions.config.isProbe) {
        done();
        return;
      }
      // Only this header: other trace data from a client is not passed on.
      const { traceparent } = request.headers;
      const parent = propagation.extract(ROOT_CONTEXT, { traceparent });
      const span = tracer.startSpan(request.method, { kind: SpanKind.SERVER }, parent);
      request.traceId = span.spanContext().traceId;
      reply.raw.on('close', () => {
        endSpan(span, request, reply);
      });
      context.with(trace.setSpan(parent, span), done);
    });
  }

  /** Sends the remaining spans; if the collector is too slow, they are lost. */
  async stop(): Promise<void> {
    // A failed export was already retried.
    await Promise.race([this.provider.shutdown().catch(() => undefined), sleep(FLUSH_TIMEOUT_MS)]);
  }
}

function endSpan(
  span: Span,
  { method, routeOptions: { url } }: FastifyRequest,
  { statusCode, raw }: FastifyReply,
): void {
  if (url !== undefined) {
    span.updateName(`${method} ${url}`).setAttribute('http.route', url);
  }
  // No path and no query: they may contain anything a client sent.
  span.setAttribute('http.request.method', method);
  if (raw.writableFinished) {
    span.setAttribute('http.response.status_code', statusCode);
  }
  if (statusCode >= 500) {
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

export function startTracing(): Tracing {
  const problems = new ProblemLog();
  const record = (problem: string) => {
    problems.record(problem);
  };
  const ignore = () => undefined;
  const logger = { error: record, warn: record, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, DiagLogLevel.WARN);
  const { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL } = process.env;
  const protocol = [OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL].find(Boolean);
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': BRAND.name, 'service.version': VERSION }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor(new Exporter())],
  });
  provider.register();
  registerInstrumentations({
    instrumentations: [
      // Statements have placeholders, and their values are not recorded. Background work belongs to no trace.
      new PgInstrumentation({
        requireParentSpan: true,
        requestHook: (span, { query: { name } }) => {
          if (name !== undefined) {
            span.updateName(name.replace(SUFFIXES, ''));
          }
        },
      }),
      new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
    ],
  });
  return new Tracing(provider, problems);
}
