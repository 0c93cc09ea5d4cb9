import { DataSource } from 'typeorm';
import { createApp } from '../app.setup';
import { AccountsService, KeysService } from '../auth';
import { loadSettings, type Settings } from '../config/settings';
import { createOpenApiDocument } from '../openapi';
import { stringifyJson } from '../shared/http/json';
import { DataDirectoryInUse, EmbeddedDatabase } from '../shared/persistence/embedded-database';
import { migrate } from '../shared/persistence/migrate';

interface Services {
  readonly accounts: AccountsService;
  readonly keys: KeysService;
  readonly settings: Settings;
}

/** Runs a command on the service's database: the one in `DATABASE_URL`, or the embedded one, also while the server has it open. */
export async function withServices(run: (services: Services) => Promise<void>): Promise<void> {
  const settings = loadSettings(process.env);
  const app = await createApp(settings);
  const dataSource = app.get(DataSource);
  const embedded = await openEmbedded(settings);
  try {
    if (embedded !== undefined) {
      await migrate(dataSource.options);
    }
    await dataSource.initialize();
    await run({ accounts: app.get(AccountsService), keys: app.get(KeysService), settings });
  } finally {
    if (dataSource.isInitialized) {
      await dataSource.destroy();
    }
    await embedded?.close();
  }
}

/** @returns the names of the migrations that ran */
export async function runMigrations(): Promise<string[]> {
  const settings = loadSettings(process.env);
  const app = await createApp(settings);
  const embedded = await openEmbedded(settings);
  try {
    return await migrate(app.get(DataSource).options);
  } finally {
    await embedded?.close();
  }
}

export async function printOpenApi(): Promise<void> {
  const settings = loadSettings(process.env);
  process.stdout.write(`${stringifyJson(createOpenApiDocument(await createApp(settings), settings), 2)}\n`);
}

/** @returns undefined when there is none, or when a running server has opened it and takes connections */
async function openEmbedded({ databaseUrl, dataDir }: Settings): Promise<EmbeddedDatabase | undefined> {
  if (databaseUrl !== undefined) {
    return undefined;
  }
  try {
    return await EmbeddedDatabase.open(dataDir);
  } catch (error) {
    if (error instanceof DataDirectoryInUse) {
      return undefined;
    }
    throw error;
  }
}
