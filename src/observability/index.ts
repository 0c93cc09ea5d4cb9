export { addLogFields } from './log-fields';
export { createLog, type LineSink, type Log, NestLogger, writeEvent } from './logger';
export { Metrics } from './metrics';
export { MetricsEndpoint } from './metrics-endpoint';
export { ObservabilityModule } from './observability.module';
export { RequestObserver } from './request-observer';
