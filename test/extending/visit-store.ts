import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AppModule } from '../../src/app.module';
import { configureApp } from '../../src/app.setup';
import { AccountsService, KeysService } from '../../src/auth';
import { loadSettings } from '../../src/config/settings';
import { createOpenApiDocument } from '../../src/documentation';
import { createLog, type LineSink } from '../../src/observability';
import { PetsService } from '../../src/pets';
import { createHttpAdapter } from '../../src/shared/http/server/http-adapter';
import { parseJson } from '../../src/shared/json/json';
import { Conformance } from '../support/conformance';
import type { TestResponse } from '../support/service';
import { TestClock } from '../support/test-clock';
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
    const settings = loadSettings({ LOG_LEVEL: 'silent', ...env });
    const module = await Test.createTestingModule({
      imports: [AppModule.forRoot(settings, new TestClock()), VisitsModule],
    }).compile();
    const app = module.createNestApplication<NestFastifyApplication>(createHttpAdapter(settings), { logger: false });
    await configureApp(app, settings, createLog(settings, logTo)).init();
    const database = app.get(DataSource);
    await database.query(DROP);
    await database.query(CREATE_VISITS);
    const { id } = await app.get(AccountsService).create('Acme', 'business');
    const { secret } = await app.get(KeysService).create(id);
    return new VisitStore(app, new Conformance(createOpenApiDocument(app, settings)), secret);
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
