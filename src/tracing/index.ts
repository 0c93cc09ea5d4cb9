import type * as OpenTelemetry from './open-telemetry';

/**
 * Tracing by OpenTelemetry, where it is told to whom to send the spans; otherwise nothing of it is loaded. To be imported
 * before anything else: it watches what is loaded after it.
 */
export const tracing = process.env.OTEL_EXPORTER_OTLP_ENDPOINT
  ? // eslint-disable-next-line @typescript-eslint/no-require-imports -- only when it is asked for
    (require('./open-telemetry') as typeof OpenTelemetry).startTracing()
  : undefined;
