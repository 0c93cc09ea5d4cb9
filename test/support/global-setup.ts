import type { Config } from 'jest';
import { createEmbeddedDatabase, createServerDatabase, type TestDatabase } from './databases';

declare global {
  var testDatabases: TestDatabase[];
}

/** Gives every worker a migrated database: on the server of `TEST_DATABASE_URL` if it is set, otherwise embedded. */
export default async function globalSetup({ maxWorkers }: Pick<Required<Config>, 'maxWorkers'>): Promise<void> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  globalThis.testDatabases = [];
  for (let worker = 1; worker <= Number(maxWorkers); worker++) {
    const database = await (serverUrl
      ? createServerDatabase(serverUrl, `petstore_worker_${worker}`)
      : createEmbeddedDatabase());
    process.env[`WORKER_${worker}_DATABASE_URL`] = database.url;
    process.env[`WORKER_${worker}_ADMIN_DATABASE_URL`] = database.adminUrl;
    globalThis.testDatabases.push(database);
  }
}
