import type * as OpenTelemetry from './open-telemetry';

const { OTEL_SDK_DISABLED, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = process.env;
const isEnabled =
  OTEL_SDK_DISABLED !== 'true' && [OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT].some(Boolean);

/**
 * Tracing by OpenTelemetry, where it is told to whom to send the spans; otherwise nothing of it is loaded. To be imported
 * before anything else: it watches what is loaded after it.
 */
export const tracing = isEnabled
  ? // eslint-disable-next-line @typescript-eslint/no-require-imports -- only when it is asked for
    (require('./open-telemetry') as typeof OpenTelemetry).startTracing()
  : undefined;
