import type * as OpenTelemetry from './open-telemetry';

const { OTEL_SDK_DISABLED, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = process.env;
const isEnabled =
  OTEL_SDK_DISABLED !== 'true' && [OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT].some(Boolean);

/**
 * OpenTelemetry tracing, if an exporter endpoint is set; otherwise none of it is loaded. Must be imported before everything
 * else: it instruments modules as they are loaded.
 */
export const tracing = isEnabled
  ? // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded only if it is used
    (require('./open-telemetry') as typeof OpenTelemetry).startTracing()
  : undefined;
