import type { ModuleMetadata } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { AppModule } from '../../src/app.module';
import { configureApp } from '../../src/app.setup';
import { AccountsService, KeysService, type Plan } from '../../src/auth';
import { loadSettings } from '../../src/config/settings';
import { createLog, type LineSink } from '../../src/observability';
import { createHttpAdapter } from '../../src/shared/http/server/http-adapter';
import { TestClock } from '../support/test-clock';

interface Fork extends ModuleMetadata {
  readonly plan?: Plan;
  readonly logTo?: LineSink | undefined;
  readonly override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
}

/** Starts the service with a team's own parts, otherwise like `createApp`, and creates a key of a new account. */
export async function startFork(
  env: Readonly<Record<string, string | undefined>>,
  { plan = 'business', logTo, override = (builder) => builder, imports = [], ...parts }: Fork,
) {
  const settings = loadSettings({ LOG_LEVEL: 'silent', ...env });
  const clock = new TestClock();
  const builder = Test.createTestingModule({ imports: [AppModule.forRoot(settings, clock), ...imports], ...parts });
  const module = await override(builder).compile();
  const app = module.createNestApplication<NestFastifyApplication>(createHttpAdapter(settings), { logger: false });
  await configureApp(app, settings, createLog(settings, logTo)).init();
  const { id: accountId } = await app.get(AccountsService).create('Acme', plan);
  const { secret: key } = await app.get(KeysService).create(accountId);
  return { app, settings, clock, accountId, key };
}
