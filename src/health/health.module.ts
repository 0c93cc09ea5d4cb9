import { Module } from '@nestjs/common';
import { Drain } from '../shared/http/server/drain';
import { HealthController } from './health.controller';
import { Readiness } from './readiness';

@Module({
  controllers: [HealthController],
  providers: [Drain, Readiness],
  exports: [Readiness],
})
export class HealthModule {}
