import { Injectable } from '@nestjs/common';
import { PetStoreError } from '../shared/domain/pet-store-error';
import { Drain } from '../shared/http/server/drain';
import { Database } from '../shared/persistence/database';

/** Tells whether this replica can serve requests. */
@Injectable()
export class Readiness {
  constructor(
    private readonly database: Database,
    private readonly drain: Drain,
  ) {}

  /**
   * Resolves if the replica is ready; it takes no longer than the timeouts of a statement.
   * @throws PetStoreError while this replica is stopping, or while the database is unreachable or takes no writes
   */
  async check(): Promise<void> {
    if (this.drain.isDraining) {
      throw new PetStoreError('service_unavailable', 'This replica is stopping. Send the request to another one.');
    }
    await this.database.checkReadiness();
  }
}
