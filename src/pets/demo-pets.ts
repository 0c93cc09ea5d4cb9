import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Settings } from '../config/settings';
import { PetsService } from './pets.service';

const DEMO_NAMES = ['Rex', 'Mia', 'Tom'];

/** Adds some animals in development if the embedded database has none. */
@Injectable()
export class DemoPets implements OnApplicationBootstrap {
  constructor(
    private readonly settings: Settings,
    private readonly pets: PetsService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { environment, databaseUrl } = this.settings;
    if (environment !== 'development' || databaseUrl !== undefined) {
      return;
    }
    const { items } = await this.pets.list({ status: undefined, after: 0n, limit: 1 });
    if (items.length > 0) {
      return;
    }
    for (const name of DEMO_NAMES) {
      await this.pets.add({ name, categoryId: 3n, status: 'available' });
    }
  }
}
