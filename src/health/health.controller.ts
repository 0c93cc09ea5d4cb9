import { Controller, Get, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ServiceUnavailable } from '../shared/domain/pet-store-error';
import { Public } from '../shared/http/public';
import { Database } from '../shared/persistence/database';

/** What an orchestrator asks: does the process live, and can it serve. */
@Public()
@ApiExcludeController()
@Controller({ version: VERSION_NEUTRAL })
export class HealthController {
  constructor(private readonly database: Database) {}

  @Get('healthz')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** @throws ServiceUnavailable while the database does not answer */
  @Get('readyz')
  async ready(): Promise<{ status: 'ok' }> {
    if (!(await this.database.isReady())) {
      throw new ServiceUnavailable();
    }
    return { status: 'ok' };
  }
}
