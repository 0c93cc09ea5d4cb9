import { Controller, Get, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '../shared/http/openapi-decorators';
import { PetStoreError, ServiceUnavailable } from '../shared/domain/pet-store-error';
import { Drain } from '../shared/http/drain';
import { Public } from '../shared/http/public';
import { Database } from '../shared/persistence/database';

/** What an orchestrator asks: does the process live, and can it serve. */
@Public()
@ApiExcludeController()
@Controller({ version: VERSION_NEUTRAL })
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly drain: Drain,
  ) {}

  @Get('healthz')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** @throws PetStoreError while this replica is stopping, or while the database does not answer */
  @Get('readyz')
  async ready(): Promise<{ status: 'ok' }> {
    if (this.drain.isDraining) {
      throw new PetStoreError('service_unavailable', 'This replica is stopping. Send the request to another one.');
    }
    if (!(await this.database.isReady())) {
      throw new ServiceUnavailable();
    }
    return { status: 'ok' };
  }
}
