import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import type { LineSink } from '../../src/observability';
import { PetsService } from '../../src/pets';
import type { TestResponse } from '../support/service';
import { startFork } from './start-fork';
import { VisitsModule, CREATE_VISITS } from './visits.module';

const DROP = 'DROP TABLE IF EXISTS visits';

/** The service with a team's module. It checks every response against the OpenAPI document. */
export class VisitStore {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly call: (method: 'GET' | 'POST' | 'PATCH', url: string, body?: object) => Promise<TestResponse>,
  ) {}

  static async start(env: Readonly<Record<string, string | undefined>>, logTo?: LineSink): Promise<VisitStore> {
    const { app, call } = await startFork(env, { imports: [VisitsModule], logTo, conformTo: '1' });
    const database = app.get(DataSource);
    await database.query(DROP);
    await database.query(CREATE_VISITS);
    return new VisitStore(app, (method, url, body) => call(method, url, { body }));
  }

  async close(): Promise<void> {
    await this.app.get(DataSource).query(DROP);
    await this.app.close();
  }

  async addPet(): Promise<bigint> {
    return (await this.app.get(PetsService).add({ name: 'Rex', categoryId: 1n, status: 'available' })).id;
  }
}
