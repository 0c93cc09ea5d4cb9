import { Logger, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { HealthModule } from '../health';
import { RateLimiter, RateLimitingModule } from '../rate-limiting';
import { Metrics } from './metrics';
import { MetricsEndpoint } from './metrics-endpoint';
import { logEvent } from '../shared/log-events';

@Module({
  imports: [HealthModule, RateLimitingModule],
  providers: [Metrics, MetricsEndpoint, Registry],
  // Other modules register their metrics in it.
  exports: [Registry],
})
export class ObservabilityModule {
  constructor({ monitor }: RateLimiter) {
    const logger = new Logger('RateLimiter');
    monitor.onBan(({ keyId, keyStart, accountId }, until) => {
      const bannedUntil = new Date(until).toISOString();
      const message = `Key ${keyId} is banned until ${bannedUntil}.`;
      logEvent(logger, 'key_banned', message, { keyId, keyStart, accountId, bannedUntil });
    });
  }
}
