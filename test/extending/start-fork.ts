import type { ModuleMetadata } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { AppModule } from '../../src/app.module';
import { configureApp } from '../../src/app.setup';
import { AccountsService, KeysService, type Plan } from '../../src/auth';
import { loadSettings } from '../../src/config/settings';
import { createOpenApiDocument } from '../../src/documentation';
import { createLog, type LineSink } from '../../src/observability';
import { createHttpAdapter } from '../../src/shared/http/server/http-adapter';
import { parseJson } from '../../src/shared/json/json';
import { Conformance } from '../support/conformance';
import type { Call, TestResponse } from '../support/service';
import { TestClock } from '../support/test-clock';

interface ForkOptions extends ModuleMetadata {
  readonly plan?: Plan;
  readonly logTo?: LineSink | undefined;
  /** The version whose OpenAPI document the responses to `call` must conform to. */
  readonly conformTo?: string;
  readonly override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
}

/** Starts the service with a team's own parts, otherwise like `createApp`, and creates a key of a new account, with which `call` sends requests. */
export async function startFork(
  env: Readonly<Record<string, string | undefined>>,
  { plan = 'business', logTo, conformTo, override = (builder) => builder, imports = [], ...parts }: ForkOptions,
) {
  const settings = loadSettings({ LOG_LEVEL: 'silent', ...env });
  const clock = new TestClock();
  const builder = Test.createTestingModule({ imports: [AppModule.forRoot(settings, clock), ...imports], ...parts });
  const module = await override(builder).compile();
  const app = module.createNestApplication<NestFastifyApplication>(createHttpAdapter(settings), { logger: false });
  await configureApp(app, settings, createLog(settings, logTo)).init();
  const { id: accountId } = await app.get(AccountsService).create('Acme', plan);
  const { secret: key } = await app.get(KeysService).create(accountId);
  const conformance =
    conformTo === undefined
      ? undefined
      : new Conformance(createOpenApiDocument(app, settings, conformTo), `/v${conformTo}`);

  const call = async (method: string, url: string, request: Call = {}): Promise<TestResponse> => {
    const { body } = request;
    const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const {
      statusCode,
      headers,
      payload: text,
    } = await app.inject({
      method: method as 'GET',
      url,
      headers: {
        authorization: `Bearer ${request.key ?? key}`,
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(payload !== undefined && { payload }),
    });
    const isJson = text !== '' && headers['content-type']?.toString().includes('json');
    const response = {
      status: statusCode,
      headers: headers as Record<string, string>,
      text,
      body: isJson ? parseJson(text) : undefined,
    };
    conformance?.check(method, url, payload, response);
    return response;
  };
  return { app, settings, clock, accountId, key, call };
}

export type Fork = Awaited<ReturnType<typeof startFork>>;
