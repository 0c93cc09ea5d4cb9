// An agent that patches packages when they are loaded, with the same hooks as the instrumentations of OpenTelemetry. When the process
// exits, it prints the packages whose patched methods were called.
const { InstrumentationBase, InstrumentationNodeModuleDefinition } = require('@opentelemetry/instrumentation');

/** Finds the patched object and its method, by package. */
const METHODS = {
  '@nestjs/core': ({ NestFactory }) => [NestFactory, 'create'],
  ioredis: (Redis) => [Redis.prototype, 'sendCommand'],
  pg: ({ Client }) => [Client.prototype, 'query'],
  typeorm: ({ DataSource }) => [DataSource.prototype, 'initialize'],
};
const called = new Set();

class MonitoringAgent extends InstrumentationBase {
  constructor() {
    super('monitoring-agent', '1.0.0', {});
  }

  init() {
    return Object.entries(METHODS).map(
      ([name, find]) =>
        new InstrumentationNodeModuleDefinition(name, ['*'], (exports) => {
          const [target, method] = find(exports);
          const original = target[method];
          target[method] = function (...args) {
            called.add(name);
            return original.apply(this, args);
          };
          return exports;
        }),
    );
  }
}

new MonitoringAgent();
process.on('exit', () => {
  process.stderr.write(`${[...called].sort().join(' ')}\n`);
});
