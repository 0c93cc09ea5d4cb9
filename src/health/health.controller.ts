import { Controller, Get, VERSION_NEUTRAL } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../shared/http/access/public.decorator';
import { Readiness } from './readiness';

/** The liveness and readiness probes. */
@Public()
@ApiExcludeController()
@Controller({ version: VERSION_NEUTRAL })
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('healthz')
  @RouteConfig({ isProbe: true })
  getLiveness(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  @RouteConfig({ isProbe: true })
  async getReadiness(): Promise<{ status: 'ok' }> {
    await this.readiness.check();
    return { status: 'ok' };
  }
}
