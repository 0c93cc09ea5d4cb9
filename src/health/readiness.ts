import { Injectable } from '@nestjs/common';
import { PetStoreError } from '../shared/domain/pet-store-error';
import { Drain } from '../shared/http/server/drain';
import { Database } from '../shared/persistence/database';

/** Checks whether this replica can serve requests. */
@Injectable()
export class Readiness {
  constructor(
    private readonly database: Database,
    private readonly drain: Drain,
  ) {}

  /**
   * Resolves if the replica is ready; takes no longer than the statement timeouts.
   * @throws PetStoreError while this replica is stopping, or while the database is unreachable or read-only
   */
  async check(): Promise<void> {
    if (this.drain.isDraining) {
      throw new PetStoreError('service_unavailable', 'This replica is stopping. Send the request to another one.');
    }
    await this.database.checkReadiness();
  }
}
