import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { createOpenApiDocument } from '../../src/documentation';
import type { LineSink } from '../../src/observability';
import { PetsService } from '../../src/pets';
import { parseJson } from '../../src/shared/json/json';
import { Conformance } from '../support/conformance';
import type { TestResponse } from '../support/service';
import { startFork } from './start-fork';
import { VisitsModule, CREATE_VISITS } from './visits.module';

const DROP = 'DROP TABLE IF EXISTS visits';

/** The service with a team's module. It checks every response against the OpenAPI document. */
export class VisitStore {
  private constructor(
    readonly app: NestFastifyApplication,
    private readonly conformance: Conformance,
    private readonly key: string,
  ) {}

  static async start(env: Readonly<Record<string, string | undefined>>, logTo?: LineSink): Promise<VisitStore> {
    const { app, settings, key } = await startFork(env, { imports: [VisitsModule], logTo });
    const database = app.get(DataSource);
    await database.query(DROP);
    await database.query(CREATE_VISITS);
    return new VisitStore(app, new Conformance(createOpenApiDocument(app, settings)), key);
  }

  async close(): Promise<void> {
    await this.app.get(DataSource).query(DROP);
    await this.app.close();
  }

  async addPet(): Promise<bigint> {
    return (await this.app.get(PetsService).add({ name: 'Rex', categoryId: 1n, status: 'available' })).id;
  }

  async call(method: 'GET' | 'POST' | 'PATCH', url: string, body?: object): Promise<TestResponse> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const injected = await this.app.inject({
      method,
      url,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(payload !== undefined && { 'content-type': 'application/json' }),
      },
      ...(payload !== undefined && { payload }),
    });
    const response = {
      status: injected.statusCode,
      headers: injected.headers as Record<string, string>,
      text: injected.body,
      body: parseJson(injected.body),
    };
    this.conformance.check(method, url, payload, response);
    return response;
  }
}
