import { Client } from 'pg';

const worker = process.env.JEST_WORKER_ID ?? '1';

/** The database of this worker, as its administrator. */
export const ADMIN_DATABASE_URL = process.env[`WORKER_${worker}_ADMIN_DATABASE_URL`] ?? '';

/** The database of this worker, as the role that serves requests. */
export const DATABASE_URL = process.env[`WORKER_${worker}_DATABASE_URL`] ?? '';

/** Runs a statement for which the role of the service lacks the privileges. @returns its rows */
export async function queryAsAdmin(sql: string, parameters?: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new Client(ADMIN_DATABASE_URL);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, parameters)).rows;
  } finally {
    await client.end();
  }
}
